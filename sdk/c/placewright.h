// What makes a policy unit in C short: names for the generated bindings, a description made of constants, and
// readers for the columns of a call.
//
// Include it in one file alone, which ends with PLACEWRIGHT_UNIT(description).

#ifndef PLACEWRIGHT_H
#define PLACEWRIGHT_H

#include "generated/judging.h"

#include <stdlib.h>
#include <string.h>

// The records of the contract, wit/policy.wit, under shorter names.
typedef judging_string_t pw_text;
typedef placewright_policy_types_tables_t pw_call;
typedef placewright_policy_types_answers_t pw_answers;
typedef placewright_policy_types_judgement_t pw_judgement;
typedef placewright_policy_types_problem_t pw_problem;
typedef exports_placewright_policy_unit_column_read_t pw_column_read;
typedef exports_placewright_policy_unit_table_read_t pw_table_read;
typedef exports_placewright_policy_unit_reason_t pw_reason;
typedef exports_placewright_policy_unit_setting_t pw_setting;
typedef exports_placewright_policy_unit_description_t pw_description;

#define PW_INTEGER PLACEWRIGHT_POLICY_TYPES_KIND_INTEGER
#define PW_NUMBER PLACEWRIGHT_POLICY_TYPES_KIND_NUMBER
#define PW_BOOLEAN PLACEWRIGHT_POLICY_TYPES_KIND_BOOLEAN
#define PW_TEXT_KIND PLACEWRIGHT_POLICY_TYPES_KIND_TEXT
#define PW_ROW_WISE EXPORTS_PLACEWRIGHT_POLICY_UNIT_EVALUATION_ROW_WISE
#define PW_WHOLE_TABLE EXPORTS_PLACEWRIGHT_POLICY_UNIT_EVALUATION_WHOLE_TABLE

// The end of an answer that time does not change: 2^53 - 1 seconds.
#define PW_FOR_GOOD INT64_C(9007199254740991)

// --- The description, of constants ---

// A text, from a literal.
#define PW_TEXT(literal) {(uint8_t *)(literal), sizeof(literal) - 1}
// A list, from an array.
#define PW_LIST(array) {(void *)(array), sizeof(array) / sizeof *(array)}
// A column that every row has: rows without it are not shown to the unit.
#define PW_REQUIRED(name, of_kind) {.column = PW_TEXT(name), .kind = (of_kind), .required = true}
// A column whose value may be absent.
#define PW_OPTIONAL(name, of_kind) {.column = PW_TEXT(name), .kind = (of_kind)}
// A table with these columns.
#define PW_TABLE(name, read_columns) {.table = PW_TEXT(name), .columns = PW_LIST(read_columns)}
// A reason, which completes the sentence "host h1 ..."; a passing one counts what is pending.
#define PW_REASON(sentence) {.text = PW_TEXT(sentence)}
#define PW_PASSING_REASON(sentence) {.text = PW_TEXT(sentence), .passing = true}

// Exports the description. It stays where it is: the bindings would free what they were given.
#define PLACEWRIGHT_UNIT(constant)                                                                                  \
  void exports_placewright_policy_unit_describe(pw_description *ret) { *ret = (constant); }                         \
  __attribute__((export_name("cabi_post_placewright:policy/unit@0.1.0#describe"))) void                             \
  __wasm_export_exports_placewright_policy_unit_describe_post_return(uint8_t *returned) {                           \
    (void)returned;                                                                                                 \
  }

// --- The columns of a call, read in declared order ---

// Where reading has come to. Tables and columns are taken in the order in which they are declared.
typedef struct {
  const pw_call *call;
  size_t table, integers, numbers;
  bool misfit;
} pw_reader;

static inline pw_reader pw_read(const pw_call *call) { return (pw_reader){.call = call}; }

// How many rows the next table has.
static inline size_t pw_rows(pw_reader *reader) {
  if (reader->table >= reader->call->rows.len) {
    reader->misfit = true;
    return 0;
  }
  return reader->call->rows.ptr[reader->table++];
}

// Whether the call held exactly what was read.
static inline bool pw_done(const pw_reader *reader) {
  const pw_call *call = reader->call;
  return !reader->misfit && reader->table == call->rows.len && reader->integers == call->integers.len &&
         reader->numbers == call->numbers.len;
}

// Absent values: positions of the call's list, ascending.
typedef struct {
  const uint32_t *positions;
  size_t count;
} pw_absent;

// The part of the list that lies in a column.
static inline pw_absent pw_absent_in(const uint32_t *positions, size_t count, size_t start, size_t rows) {
  while (count > 0 && positions[0] < start) positions++, count--;
  while (count > 0 && positions[count - 1] >= start + rows) count--;
  return (pw_absent){positions, count};
}

// A column of whole numbers, truth values (0 and 1) or texts (numbers in the call's dictionary), or offsets.
typedef struct {
  const int64_t *values;
  size_t start;
  pw_absent absent;
} pw_integers;

// A column of numbers.
typedef struct {
  const double *values;
  size_t start;
  pw_absent absent;
} pw_numbers;

static inline pw_integers pw_integers_of(pw_reader *reader, size_t rows) {
  const pw_call *call = reader->call;
  size_t start = reader->integers;
  if (rows > call->integers.len - start) {
    reader->misfit = true;
    return (pw_integers){0};
  }
  reader->integers += rows;
  return (pw_integers){call->integers.ptr + start, start,
                       pw_absent_in(call->absent_integers.ptr, call->absent_integers.len, start, rows)};
}

static inline pw_numbers pw_numbers_of(pw_reader *reader, size_t rows) {
  const pw_call *call = reader->call;
  size_t start = reader->numbers;
  if (rows > call->numbers.len - start) {
    reader->misfit = true;
    return (pw_numbers){0};
  }
  reader->numbers += rows;
  return (pw_numbers){call->numbers.ptr + start, start,
                      pw_absent_in(call->absent_numbers.ptr, call->absent_numbers.len, start, rows)};
}

// The offsets of a table below another one: row p of the parent owns the rows values[p] up to values[p + 1].
static inline const int64_t *pw_offsets(pw_reader *reader, size_t parent_rows) {
  return pw_integers_of(reader, parent_rows + 1).values;
}

// Whether a position is one of those without a value.
static inline bool pw_is_absent(pw_absent absent, size_t position) {
  size_t from = 0, to = absent.count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (absent.positions[middle] == position) return true;
    if (absent.positions[middle] < position)
      from = middle + 1;
    else
      to = middle;
  }
  return false;
}

// Whether a row has a value in the column.
#define PW_HAS(column, row) (!pw_is_absent((column).absent, (column).start + (row)))

// --- Answers ---

// Room for what is wanted of so many hosts: every host is kept at cost 0. False if there is no memory.
static inline bool pw_answer(pw_judgement *judgement, const pw_answers *want, size_t hosts) {
  memset(judgement, 0, sizeof *judgement);
  size_t verdicts = want->verdicts ? hosts : 0, costs = want->costs ? hosts : 0;
  judgement->verdicts.ptr = calloc(verdicts + 1, sizeof *judgement->verdicts.ptr);
  judgement->costs.ptr = calloc(costs + 1, sizeof *judgement->costs.ptr);
  judgement->verdicts.len = verdicts;
  judgement->costs.len = costs;
  return judgement->verdicts.ptr && judgement->costs.ptr;
}

// No answer: the request or a setting is at fault, and the caller is told this sentence. `return` what it gives.
static inline bool pw_refuse(pw_problem *problem, const char *sentence) {
  problem->tag = PLACEWRIGHT_POLICY_TYPES_PROBLEM_REFUSED;
  judging_string_dup(&problem->val.refused, sentence);
  return false;
}

// No answer: the unit itself is at fault. `return` what it gives.
static inline bool pw_fail(pw_problem *problem, const char *sentence) {
  problem->tag = PLACEWRIGHT_POLICY_TYPES_PROBLEM_FAILED;
  judging_string_dup(&problem->val.failed, sentence);
  return false;
}

// A sentence for whoever develops or runs the unit; no influence on any decision.
static inline void pw_log(placewright_policy_log_level_t level, const char *sentence) {
  pw_text text = {(uint8_t *)sentence, strlen(sentence)};
  placewright_policy_log_log(level, &text);
}

#endif
