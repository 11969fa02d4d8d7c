// CPU: the unit plugins/reference/cpu in C, with the same answers.
//
// Keeps the hosts that have a CPU for each core of the widest VM beside the CPUs that VMs have for themselves,
// and that have not promised too much if there is a limit; prefers those of which the smallest share is promised.

#include "placewright.h"

#include <math.h>

// --- What is read ---

static const pw_column_read VM_COLUMNS[] = {
    PW_REQUIRED("sockets", PW_INTEGER),  PW_REQUIRED("cores", PW_INTEGER), PW_REQUIRED("vcpus", PW_INTEGER),
    PW_REQUIRED("exclusive", PW_BOOLEAN), PW_REQUIRED("cpu", PW_INTEGER),
};
static const pw_column_read HOST_COLUMNS[] = {
    PW_OPTIONAL("cpu.sockets", PW_INTEGER),   PW_OPTIONAL("cpu.cores", PW_INTEGER),
    PW_OPTIONAL("cpu.threads", PW_INTEGER),   PW_REQUIRED("cpu.total", PW_INTEGER),
    PW_OPTIONAL("cpu.overcommit", PW_NUMBER), PW_REQUIRED("cpu.committed", PW_INTEGER),
    PW_REQUIRED("cpu.pending", PW_INTEGER),   PW_REQUIRED("cpu.exclusive", PW_INTEGER),
    PW_REQUIRED("vms.widest", PW_INTEGER),
};
// Those of the VMs that run on the host now, and what they hold there.
static const pw_column_read CURRENT_COLUMNS[] = {
    PW_REQUIRED("member", PW_INTEGER), PW_REQUIRED("sockets", PW_INTEGER),   PW_REQUIRED("cores", PW_INTEGER),
    PW_REQUIRED("vcpus", PW_INTEGER),  PW_REQUIRED("exclusive", PW_BOOLEAN), PW_REQUIRED("cpu", PW_INTEGER),
    PW_REQUIRED("others.widest", PW_INTEGER),
};
static const pw_column_read SETTINGS_COLUMNS[] = {
    PW_REQUIRED("count-threads-as-cores", PW_BOOLEAN),
    PW_REQUIRED("require-topology", PW_BOOLEAN),
    PW_OPTIONAL("overcommit", PW_NUMBER),
};
static const pw_table_read READS[] = {
    PW_TABLE("members", VM_COLUMNS),
    PW_TABLE("hosts", HOST_COLUMNS),
    PW_TABLE("hosts/current", CURRENT_COLUMNS),
    PW_TABLE("settings", SETTINGS_COLUMNS),
};

enum { UNKNOWN_TOPOLOGY = 1, TOO_FEW_CPUS, TOO_LITTLE_TO_PROMISE, TOO_LITTLE_WHILE_PENDING };

static const pw_reason REASONS[] = {
    PW_REASON("has no known CPU topology"),
    PW_REASON("has too few CPUs"),
    PW_REASON("has too little CPU left to promise"),
    PW_PASSING_REASON("has too little CPU left to promise while places on it are reserved"),
};

#define OFF {.is_some = true, .val = {.tag = PLACEWRIGHT_POLICY_TYPES_VALUE_BOOLEAN, .val.boolean = false}}

static const pw_setting SETTINGS[] = {
    {.name = PW_TEXT("count-threads-as-cores"),
     .kind = PW_BOOLEAN,
     .default_ = OFF,
     .meaning = PW_TEXT("Whether each thread of a host counts as a CPU, rather than each core.")},
    {.name = PW_TEXT("require-topology"),
     .kind = PW_BOOLEAN,
     .default_ = OFF,
     .meaning = PW_TEXT("Whether hosts are left out whose sockets, cores or threads are not known; else such a host "
                        "has a CPU for each whole core of its CPU total.")},
    {.name = PW_TEXT("overcommit"),
     .kind = PW_NUMBER,
     .measure = {.is_some = true, .val = PW_TEXT("fraction")},
     .least = {.is_some = true, .val = 0},
     .meaning = PW_TEXT("How much of a host's CPU may be promised, 1 = all of it once, where the host does not say so "
                        "itself (cpu.overcommit); any amount, if neither does.")},
};

static const pw_description DESCRIPTION = {
    .name = PW_TEXT("cpu-in-c"),
    .version = PW_TEXT("0.1.0"),
    .summary = PW_TEXT("Keeps the hosts with CPUs for the widest VM and, if a limit is set, CPU left to promise, and "
                       "prefers those of which the least is promised."),
    .settings = PW_LIST(SETTINGS),
    .judge = {.is_some = true,
              .val = {.answers = {.verdicts = true, .costs = true},
                      .evaluation = PW_ROW_WISE,
                      .reads = PW_LIST(READS),
                      .reasons = PW_LIST(REASONS)}},
};

PLACEWRIGHT_UNIT(DESCRIPTION)

// --- A call, table by table in declared order ---

typedef struct {
  size_t count;
  pw_integers sockets, cores, vcpus, exclusive, cpu;
} vms;

typedef struct {
  size_t count;
  pw_integers sockets, cores, threads, total;
  pw_numbers overcommit;
  pw_integers committed, pending, exclusive, widest;
  // Of each host, the rows of `current`: the number of the VM in each, what it holds, and the cores of the widest
  // VM beside it.
  const int64_t *current;
  pw_integers member;
  vms held;
  pw_integers others_widest;
} hosts;

typedef struct {
  pw_integers threads_as_cores, require_topology;
  pw_numbers overcommit;
} settings;

static vms read_vms(pw_reader *reader, size_t count) {
  vms it = {.count = count};
  pw_integers *columns[] = {&it.sockets, &it.cores, &it.vcpus, &it.exclusive, &it.cpu};
  for (size_t number = 0; number < 5; number++) *columns[number] = pw_integers_of(reader, it.count);
  return it;
}

static hosts read_hosts(pw_reader *reader) {
  hosts it = {.count = pw_rows(reader)};
  pw_integers *topology[] = {&it.sockets, &it.cores, &it.threads, &it.total};
  for (size_t number = 0; number < 4; number++) *topology[number] = pw_integers_of(reader, it.count);
  it.overcommit = pw_numbers_of(reader, it.count);
  pw_integers *taken[] = {&it.committed, &it.pending, &it.exclusive, &it.widest};
  for (size_t number = 0; number < 4; number++) *taken[number] = pw_integers_of(reader, it.count);
  size_t current = pw_rows(reader);
  it.current = pw_offsets(reader, it.count);
  it.member = pw_integers_of(reader, current);
  it.held = read_vms(reader, current);
  it.others_widest = pw_integers_of(reader, current);
  return it;
}

static settings read_settings(pw_reader *reader) {
  size_t rows = pw_rows(reader);
  settings it;
  it.threads_as_cores = pw_integers_of(reader, rows);
  it.require_topology = pw_integers_of(reader, rows);
  it.overcommit = pw_numbers_of(reader, rows);
  return it;
}

// --- The rule ---

// What VMs take of a host: CPU in millicores, CPUs of their own, and cores of the widest VM that shares CPUs.
typedef struct {
  int64_t cpu, exclusive, widest;
} needed;

typedef struct {
  const vms *vms;
  needed all;
  // Whether all of them are to have CPUs of their own.
  bool all_exclusive;
  bool threads_as_cores, require_topology;
  // For hosts that have none of their own.
  bool has_overcommit;
  double overcommit;
} need;

static needed needed_by(const vms *vms, size_t vm) {
  needed it = {.cpu = vms->cpu.values[vm]};
  int64_t width;
  if (__builtin_mul_overflow(vms->sockets.values[vm], vms->cores.values[vm], &width)) width = INT64_MAX;
  if (vms->exclusive.values[vm]) it.exclusive = vms->vcpus.values[vm];
  else it.widest = width;
  return it;
}

static needed plus(needed sum, needed other) {
  sum.cpu += other.cpu;
  sum.exclusive += other.exclusive;
  if (other.widest > sum.widest) sum.widest = other.widest;
  return sum;
}

static int64_t beyond(int64_t asked, int64_t held) { return asked > held ? asked - held : 0; }

// What is asked for beyond what is held: a VM that is no wider than it is has its CPUs, and CPUs of its own that it
// gives back are shared from then on.
static needed less(needed asked, needed held) {
  return (needed){
      .cpu = beyond(asked.cpu, held.cpu),
      .exclusive = asked.exclusive - held.exclusive,
      .widest = asked.widest > held.widest ? asked.widest : 0,
  };
}

static need prepare(const vms *vms, const settings *settings) {
  need it = {.vms = vms, .all_exclusive = true};
  for (size_t vm = 0; vm < vms->count; vm++) {
    it.all = plus(it.all, needed_by(vms, vm));
    it.all_exclusive = it.all_exclusive && vms->exclusive.values[vm];
  }
  it.threads_as_cores = settings->threads_as_cores.values[0];
  it.require_topology = settings->require_topology.values[0];
  it.has_overcommit = PW_HAS(settings->overcommit, 0);
  it.overcommit = settings->overcommit.values[0];
  return it;
}

// What the VMs take of a host: what they ask for, less what they hold there.
static needed needed_on(const need *need, const hosts *hosts, size_t host) {
  int64_t first = hosts->current[host], end = hosts->current[host + 1];
  if (first == end) return need->all;
  needed sum = {0};
  for (size_t vm = 0; vm < need->vms->count; vm++) {
    needed takes = needed_by(need->vms, vm);
    for (int64_t row = first; row < end; row++) {
      if (hosts->member.values[row] == (int64_t)vm) takes = less(takes, needed_by(&hosts->held, row));
    }
    sum = plus(sum, takes);
  }
  return sum;
}

// Cores of the widest VM that shares CPUs on a host, once the VMs have what they ask for.
static int64_t widest_with(const need *need, const hosts *hosts, size_t host) {
  int64_t first = hosts->current[host], end = hosts->current[host + 1];
  if (first == end || !need->all_exclusive) return hosts->widest.values[host];
  int64_t least = INT64_MAX;
  for (int64_t row = first; row < end; row++) {
    int64_t widest = hosts->others_widest.values[row];
    if (widest < least) least = widest;
  }
  return least;
}

// Of a total, so much may be promised.
static int64_t share(int64_t total, double overcommit) {
  double limit = (double)total * overcommit;
  return limit >= 0x1p63 ? INT64_MAX : (int64_t)limit;
}

static uint8_t verdict(const need *need, const hosts *hosts, size_t host) {
  bool has_topology = PW_HAS(hosts->sockets, host) && PW_HAS(hosts->cores, host) && PW_HAS(hosts->threads, host);
  if (need->require_topology && !has_topology) return UNKNOWN_TOPOLOGY;
  const pw_integers *counted = need->threads_as_cores ? &hosts->threads : &hosts->cores;
  int64_t total = hosts->total.values[host];
  int64_t cpus = PW_HAS(*counted, host) ? counted->values[host] : total / 1000;
  needed needed = needed_on(need, hosts, host);
  // One CPU stays shared even if no VM shares it yet.
  int64_t widest = needed.widest > 1 ? needed.widest : 1;
  int64_t others = widest_with(need, hosts, host);
  if (others > widest) widest = others;
  bool takes_cpus = needed.exclusive > 0 || needed.widest > 0;
  if (takes_cpus && cpus - hosts->exclusive.values[host] - needed.exclusive < widest) return TOO_FEW_CPUS;
  if (needed.cpu == 0) return 0;
  bool has_own = PW_HAS(hosts->overcommit, host);
  if (!has_own && !need->has_overcommit) return 0;
  int64_t limit = share(total, has_own ? hosts->overcommit.values[host] : need->overcommit);
  int64_t promised = hosts->committed.values[host] + needed.cpu;
  if (promised > limit) return TOO_LITTLE_TO_PROMISE;
  return promised + hosts->pending.values[host] > limit ? TOO_LITTLE_WHILE_PENDING : 0;
}

// The share of the CPU that the host may promise which is promised when the VMs are placed; of all its CPU, where the
// host does not say how much it may promise.
static double cost(const need *need, const hosts *hosts, size_t host) {
  double promisable = (double)hosts->total.values[host];
  if (PW_HAS(hosts->overcommit, host)) promisable *= hosts->overcommit.values[host];
  if (promisable <= 0) return INFINITY;
  int64_t promised = hosts->committed.values[host] + hosts->pending.values[host] + needed_on(need, hosts, host).cpu;
  return (double)promised / promisable;
}

bool exports_placewright_policy_judge_judge(pw_answers *want, pw_call *call, pw_judgement *judgement,
                                            pw_problem *problem) {
  pw_reader reader = pw_read(call);
  const vms vms = read_vms(&reader, pw_rows(&reader));
  const hosts hosts = read_hosts(&reader);
  const settings settings = read_settings(&reader);
  if (!pw_done(&reader)) return pw_fail(problem, "the call does not hold what was declared");
  if (!pw_answer(judgement, want, hosts.count)) return pw_fail(problem, "there is no memory for the answer");
  const need need = prepare(&vms, &settings);
  for (size_t host = 0; host < hosts.count; host++) {
    if (want->verdicts) judgement->verdicts.ptr[host] = verdict(&need, &hosts, host);
    if (want->costs) judgement->costs.ptr[host] = cost(&need, &hosts, host);
  }
  placewright_policy_types_tables_free(call);
  return true;
}
