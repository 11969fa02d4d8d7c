//! Sends a history to a server, keeps the ledger by its answers, and judges each of them.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::history::{History, Request};
use crate::judge::{
    broken_rule, could_take, gpu_given_twice, is_satisfied, knows_no_load, may_have_gpus,
    promised_twice,
};
use crate::ledger::{Ledger, Place};
use crate::needs::{GIB, Needs, PAGE};
use crate::policies::POLICIES;
use crate::served::{Answer, Served};
use crate::stray;

/// Seconds for which a place is reserved unless a request says otherwise.
const RESERVED: i64 = 300;

/// Seconds between two requests.
const STEP: i64 = 7;

/// A history under way.
pub struct Match<'a> {
    served: &'a mut Served,
    cluster: String,
    policy: &'static str,
    ledger: Ledger,
    /// Number of the plan that was left for later.
    kept: Option<u64>,
    /// What was asked and answered.
    log: Vec<String>,
}

/// What is wrong, or that nothing is.
type Judged = Result<(), String>;

fn vm(number: usize) -> String {
    format!("vm-{number}")
}

fn host(number: usize) -> String {
    format!("host-{number}")
}

fn number_of(id: &Value) -> Option<usize> {
    id.as_str()?.split_once('-')?.1.parse().ok()
}

impl<'a> Match<'a> {
    /// Play a history as a cluster of that name, which is gone afterwards. Gives the requests that
    /// had an effect.
    ///
    /// # Errors
    /// If the server is at fault: what is wrong, and what was asked and answered until then.
    pub fn play(served: &'a mut Served, cluster: &str, history: &History) -> Result<usize, String> {
        let mut this = Self {
            served,
            cluster: cluster.to_owned(),
            policy: POLICIES[history.policy].name,
            ledger: Ledger::new(history),
            kept: None,
            log: Vec::new(),
        };
        let judged = this.play_all(history);
        let gone = this.ask("DELETE", "", None);
        match judged.and_then(|done| gone.map(|_| done)) {
            Ok(done) => Ok(done),
            Err(fault) => Err(format!("{fault}\n  {}", this.log.join("\n  "))),
        }
    }

    fn play_all(&mut self, history: &History) -> Result<usize, String> {
        self.create(history)?;
        let mut done = 0;
        for (number, request) in history.requests.iter().enumerate() {
            self.served.wait(STEP);
            self.ledger.expire(self.served.now());
            let before = self.ledger.clone();
            self.request(request)?;
            if before != self.ledger {
                done += 1;
                // One host after the other, and all of them in the end.
                self.check_sums(number % self.ledger.hosts.len())?;
            }
        }
        let hosts = self.ask("GET", "/hosts", None)?;
        let items = hosts.body["items"].as_array();
        let items = items.ok_or("a list of hosts without items")?;
        for host in items {
            let number = number_of(&host["id"]).ok_or("a host that nobody has")?;
            self.check_sums_of(number, host)?;
        }
        Ok(done)
    }

    fn create(&mut self, history: &History) -> Judged {
        let hosts = (0..).zip(&history.hosts);
        let hosts: Vec<Value> = hosts
            .map(|(number, it)| it.document(&host(number)))
            .collect();
        let groups = (0..)
            .zip(&history.groups)
            .map(|(number, group): (usize, _)| {
                let vms: Vec<String> = group.vms.iter().map(|it| vm(*it)).collect();
                let rule = match group.rule {
                    crate::Rule::Together => "positive",
                    crate::Rule::Apart => "negative",
                };
                json!({"id": format!("group-{number}"), "vms": vms, "rule": rule, "hard": true})
            });
        let groups: Vec<Value> = groups.collect();
        let document = json!({"name": self.cluster, "hosts": hosts, "groups": groups});
        let path = format!("/v1/clusters?policy={}", self.policy);
        let answer = self.served.ask("POST", &path, Some(&document))?;
        self.log.push(format!("{document}"));
        match answer.status {
            StatusCode::CREATED => Ok(()),
            _ => Err(format!("the cluster is refused: {}", answer.body)),
        }
    }

    fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, String> {
        let whole = format!("/v1/clusters/{}{path}", self.cluster);
        let answer = self.served.ask(method, &whole, body)?;
        if answer.status.is_server_error() {
            return Err(format!("{method} {path}: {}", answer.body));
        }
        Ok(answer)
    }

    fn post(&mut self, path: &str, body: &Value) -> Result<Answer, String> {
        let answer = self.ask("POST", path, Some(body))?;
        let shown = match &answer.body {
            Value::Object(all) if all.contains_key("detail") => all["detail"].to_string(),
            other => other.to_string(),
        };
        self.log.push(format!(
            "{path} {body}\n    {} {shown}",
            answer.status.as_u16()
        ));
        Ok(answer)
    }

    fn patch(&mut self, path: &str, body: &Value) -> Result<bool, String> {
        let answer = self.ask("PATCH", path, Some(body))?;
        self.log.push(format!(
            "PATCH {path} {body}\n    {}",
            answer.status.as_u16()
        ));
        Ok(answer.status.is_success())
    }

    fn request(&mut self, request: &Request) -> Judged {
        match request {
            Request::Place(number, needs) => self.place(*number, needs),
            Request::Again(number, needs) => {
                let keys = needs.as_ref().map_or_else(|| json!({}), Needs::keys);
                self.again(*number, keys, |known| {
                    needs
                        .as_ref()
                        .map_or_else(|| known.clone(), |it| known.changed_by(it))
                })
            }
            Request::Resize(number, memory) => {
                let keys = json!({"memory": memory * GIB});
                self.again(*number, keys, |known| Needs {
                    memory: *memory,
                    ..known.clone()
                })
            }
            Request::Batch(vms) => self.batch(vms),
            Request::FromNothing(vms) => self.plan_anew(vms),
            Request::Anew(vms, new, whole) => self.place_anew(vms, new.as_ref(), *whole),
            Request::Migrate(number) => self.migrate(*number),
            Request::Confirm(number) => self.confirm(*number),
            Request::Cancel(number) => {
                let answer = self.post("/cancel", &json!({"vms": [vm(*number)]}))?;
                if answer.status.is_success() {
                    self.ledger.cancel(*number);
                }
                Ok(())
            }
            Request::Wait(seconds) => {
                self.served.wait(*seconds);
                self.log.push(format!("{seconds} seconds go by"));
                self.ledger.expire(self.served.now());
                // Places end with the next turn of the cluster.
                self.ask("GET", "/reservations", None)?;
                Ok(())
            }
            Request::Measure(number) => self.measure(*number),
            Request::State(number, state) => self.state(*number, state),
            Request::Evacuate(number, confirm) => {
                let answer = self.post("/evacuate", &json!({"hosts": [host(*number)]}))?;
                self.carry_out(&answer, *confirm)
            }
            Request::Plan(confirm) => {
                let answer = self.post("/plans", &json!({}))?;
                self.carry_out(&answer, *confirm)
            }
            Request::PlanForLater => {
                let answer = self.post("/plans", &json!({}))?;
                self.kept = answer.body["number"].as_u64();
                Ok(())
            }
            Request::BeginNow(confirm) => match self.kept.take() {
                Some(plan) => self.begin(plan, *confirm),
                None => Ok(()),
            },
            Request::WhatIf(number) => self.what_if(*number),
            Request::PatchVm(number, memory) => self.patch_vm(*number, *memory),
            Request::PatchHost(number, memory) => {
                if *number < self.ledger.hosts.len()
                    && self.patch(
                        &format!("/hosts/{}", host(*number)),
                        &json!({"memory.total": memory * GIB}),
                    )?
                {
                    self.ledger.hosts[*number].spec.memory = *memory;
                }
                Ok(())
            }
            Request::Gpus(number, first) => self.say_gpus(*number, *first),
            Request::Gone(number) => {
                let gone = json!({"gone": {"vms": [vm(*number)]}});
                if self.post("/inventory/changes", &gone)?.status.is_success() {
                    self.ledger.forget(*number);
                }
                Ok(())
            }
            Request::Stray(route, stray) => {
                let sent = stray::request(*route, *stray);
                let answer = self.ask(sent.method, &sent.path, sent.body.as_ref())?;
                self.log
                    .push(format!("{} {} {:?}", sent.method, sent.path, sent.body));
                match answer.status.is_client_error() {
                    // The sums of hosts are checked as after every request that had an effect.
                    true => (0..self.ledger.hosts.len()).try_for_each(|it| self.check_sums(it)),
                    false => Err(format!(
                        "passed over: {} {} {:?}",
                        sent.method, sent.path, sent.body
                    )),
                }
            }
            Request::Restart => {
                self.log.push("the server is started anew".to_owned());
                self.served.restart()
            }
        }
    }

    fn place(&mut self, number: usize, needs: &Needs) -> Judged {
        let mut body = needs.keys();
        body["id"] = vm(number).into();
        let answer = self.post("/place", &body)?;
        let needs = self.asked(number, needs);
        self.decided(number, &needs, &answer, true)
    }

    /// What a VM asks for with these needs: one that ran on a host that is down is known, and what
    /// is not given of it stays.
    fn asked(&self, number: usize, needs: &Needs) -> Needs {
        let known = self.ledger.running(number);
        known.map_or_else(|| needs.clone(), |known| known.needs.changed_by(needs))
    }

    /// Place a VM again; `of` says what it asks for then, of what it has.
    fn again(&mut self, number: usize, mut body: Value, of: impl Fn(&Needs) -> Needs) -> Judged {
        let Some(known) = self.ledger.running(number) else {
            return Ok(());
        };
        let needs = of(&known.needs);
        body["id"] = vm(number).into();
        body["again"] = true.into();
        let answer = self.post("/place", &body)?;
        self.decided(number, &needs, &answer, false)
    }

    fn migrate(&mut self, number: usize) -> Judged {
        let Some(known) = self.ledger.running(number).cloned() else {
            return Ok(());
        };
        let answer = self.post("/migrate", &json!({"id": vm(number)}))?;
        if number_of(&answer.body["host"]) == Some(known.host) {
            return Err(format!("VM {number} is moved to where it is"));
        }
        self.decided(number, &known.needs, &answer, false)
    }

    /// What a decision about one VM says is judged and noted.
    fn decided(&mut self, number: usize, needs: &Needs, answer: &Answer, is_new: bool) -> Judged {
        let is_unknown = !self
            .ledger
            .vms
            .get(&number)
            .is_some_and(|it| *it != Default::default());
        if !answer.status.is_success() {
            // A policy may refuse needs that none of its units checks.
            let is_conflict = !is_unknown && answer.status == StatusCode::CONFLICT;
            let is_unheeded = answer.body["code"] == "unheeded-need";
            return match is_conflict || is_unheeded {
                true => Ok(()),
                false => Err(format!("the request is refused: {}", answer.body)),
            };
        }
        self.decision(number, needs, &answer.body, is_new && is_unknown)
    }

    /// What a decision about one VM by itself says is judged and noted.
    fn decision(&mut self, number: usize, needs: &Needs, body: &Value, is_new: bool) -> Judged {
        let place = self.place_of(number, needs, body, is_new)?;
        self.rules_of(place.map(|host| (number, host)))
    }

    /// Judge whether there is room where a VM is placed, and note the place. The host, if the
    /// place is another one than it had: whether rules are kept is judged when the places of all
    /// that were placed with it are noted.
    fn place_of(
        &mut self,
        number: usize,
        needs: &Needs,
        body: &Value,
        is_new: bool,
    ) -> Result<Option<usize>, String> {
        let Some(to) = number_of(&body["host"]) else {
            let could = could_take(&self.ledger, number, needs).filter(|_| is_new);
            return match could {
                Some(host) => Err(format!(
                    "VM {number} is refused though host {host} could take it"
                )),
                None => Ok(None),
            };
        };
        let expires = body["expires"].as_i64().unwrap_or(i64::MAX);
        let before = self.ledger.running(number);
        if before.is_some_and(|it| it.host == to && it.needs == *needs) {
            // It stays as it is, so there is nothing to be reserved.
            return Ok(None);
        }
        let unknown = is_new.then(|| knows_no_load(&self.ledger, number, to, needs));
        let twice = promised_twice(&self.ledger, number, to, needs);
        let place = Place {
            host: to,
            needs: needs.clone(),
        };
        self.ledger.reserve(number, place, expires);
        match twice.or(unknown.flatten()) {
            Some(fault) => Err(format!("VM {number} on host {to}: {fault}")),
            None => Ok(Some(to)),
        }
    }

    /// Whether VMs that were placed on these hosts keep to the hard rules there.
    fn rules_of(&self, placed: impl IntoIterator<Item = (usize, usize)>) -> Judged {
        for (number, host) in placed {
            if let Some(fault) = broken_rule(&self.ledger, number, host) {
                return Err(format!("VM {number} on host {host}: {fault}"));
            }
        }
        Ok(())
    }

    fn batch(&mut self, vms: &[(usize, Needs)]) -> Judged {
        let mut vms: Vec<&(usize, Needs)> = vms.iter().collect();
        vms.sort_by_key(|it| it.0);
        vms.dedup_by_key(|it| it.0);
        let bodies = vms.iter().map(|(number, needs)| {
            let mut body = needs.keys();
            body["id"] = vm(*number).into();
            body
        });
        let body = json!({"vms": bodies.collect::<Vec<_>>()});
        let answer = self.post("/place-batch", &body)?;
        let decisions = answer.body["decisions"].as_array().cloned();
        for decision in decisions.into_iter().flatten() {
            let placed = decision["vms"].as_array().cloned().unwrap_or_default();
            // Several are placed at once where a hard group keeps them together.
            let alone = placed.len() == 1;
            let mut places = Vec::new();
            for id in &placed {
                let number = number_of(id).ok_or("an id that nobody has")?;
                let known = vms.iter().find(|it| it.0 == number);
                let (_, needs) = known.ok_or("a decision about another VM")?;
                let is_unknown = !self.ledger.vms.contains_key(&number);
                let needs = self.asked(number, needs);
                let host = self.place_of(number, &needs, &decision, alone && is_unknown)?;
                places.extend(host.map(|host| (number, host)));
            }
            self.rules_of(places)?;
        }
        Ok(())
    }

    fn plan_anew(&mut self, vms: &[usize]) -> Judged {
        let running = vms.iter().filter_map(|number| {
            let place = self.ledger.running(*number)?;
            Some((*number, place.needs.clone()))
        });
        let running: Vec<(usize, Needs)> = running.collect();
        if running.is_empty() {
            return Ok(());
        }
        let bodies: Vec<Value> = running.iter().map(|it| json!({"id": vm(it.0)})).collect();
        let answer = self.post(
            "/place-batch?from-nothing=true&dry-run=true",
            &json!({"vms": bodies}),
        )?;
        // They hold nothing, and what is planned is judged one after the other.
        let before = self.ledger.clone();
        for (number, _) in &running {
            self.ledger.vacate(*number);
        }
        let decisions = answer.body["decisions"].as_array().cloned();
        let mut judged = Ok(());
        for decision in decisions.into_iter().flatten() {
            let placed = decision["vms"].as_array().cloned().unwrap_or_default();
            let alone = placed.len() == 1;
            let mut places = Vec::new();
            for number in placed.iter().filter_map(number_of) {
                if let Some((_, needs)) = running.iter().find(|it| it.0 == number) {
                    // One that may not be moved finds no other host than its own.
                    let host = self.place_of(number, needs, &decision, alone && !needs.stays);
                    judged = judged.and(host.map(|host| {
                        places.extend(host.map(|host| (number, host)));
                    }));
                }
            }
            judged = judged.and(self.rules_of(places));
        }
        self.ledger = before;
        judged
    }

    /// Places that a plan from nothing reserves are judged with all VMs where they run.
    fn place_anew(&mut self, vms: &[usize], new: Option<&(usize, Needs)>, whole: bool) -> Judged {
        let running = vms.iter().filter_map(|number| {
            let place = self.ledger.running(*number)?;
            Some((*number, place.needs.clone()))
        });
        let mut asked: Vec<(usize, Needs)> = running.collect();
        if asked.is_empty() {
            return Ok(());
        }
        let mut bodies: Vec<Value> = asked.iter().map(|it| json!({"id": vm(it.0)})).collect();
        let new = new.filter(|(number, _)| {
            let known = self.ledger.vms.get(number);
            known.is_none_or(|it| *it == Default::default())
        });
        if let Some((number, needs)) = new {
            let mut body = needs.keys();
            body["id"] = vm(*number).into();
            bodies.insert(0, body);
            asked.push((*number, needs.clone()));
        }
        let answer = self.post(
            &format!("/place-batch?from-nothing=true&listed=true&all-or-nothing={whole}"),
            &json!({"vms": bodies}),
        )?;
        let decisions = answer.body["decisions"].as_array().cloned();
        let decisions: Vec<Value> = decisions.unwrap_or_default();
        // What was reserved for them before is given up.
        if !whole || answer.body["reserved"] == true {
            let decided = decisions.iter().filter_map(|it| it["vms"].as_array());
            for number in decided.flatten().filter_map(number_of) {
                self.ledger.cancel(number);
            }
        }
        let mut missing = 0;
        for decision in &decisions {
            let to = number_of(&decision["host"]);
            let placed = decision["vms"].as_array().cloned().unwrap_or_default();
            let placed: Vec<usize> = placed.iter().filter_map(number_of).collect();
            let stay = placed.iter().all(|number| {
                let running = self.ledger.running(*number);
                running.is_some_and(|it| Some(it.host) == to)
            });
            if decision["reserved"] != true {
                let is_told = decision["warnings"]
                    .as_array()
                    .is_some_and(|it| !it.is_empty());
                if to.is_some() && !stay {
                    missing += 1;
                    if !is_told && !whole {
                        return Err(format!(
                            "it is not told why no place is reserved: {decision}"
                        ));
                    }
                }
                continue;
            }
            let mut places = Vec::new();
            for number in placed {
                let known = asked.iter().find(|it| it.0 == number);
                let (_, needs) = known.ok_or("a decision about another VM")?.clone();
                let host = self.place_of(number, &needs, decision, false)?;
                places.extend(host.map(|host| (number, host)));
            }
            self.rules_of(places)?;
        }
        if missing > 0 && answer.body["reserved"] == true {
            return Err("places are not reserved, and the answer says they are".to_owned());
        }
        Ok(())
    }

    /// Where the VMs of a host would go is judged as if they went there, one after the other.
    fn what_if(&mut self, number: usize) -> Judged {
        let on = |place: Option<&Place>| place.is_some_and(|it| it.host == number);
        let mut of_host = Vec::new();
        for (id, vm) in &self.ledger.vms {
            let running = vm.running.as_ref().map(|it| &it.place);
            let reserved = vm.reserved.as_ref().map(|it| &it.place);
            if !on(running) && !on(reserved) {
                continue;
            }
            let ((Some(place), None) | (None, Some(place))) = (running, reserved) else {
                // Where a VM on the move would be is not for the book to say.
                return Ok(());
            };
            of_host.push((*id, place.needs.clone()));
        }
        if number >= self.ledger.hosts.len() {
            return Ok(());
        }
        let path = format!("/what-if?without={}", host(number));
        let answer = self.ask("POST", &path, None)?;
        self.log.push(format!("{path}\n    {}", answer.body));
        let before = self.ledger.clone();
        self.ledger.hosts[number].state = "down";
        for (id, _) in &of_host {
            self.ledger.forget(*id);
        }
        let vms = answer.body["failures"][0]["vms"].as_array().cloned();
        let mut judged = Ok(());
        let mut places = Vec::new();
        let mut told = 0;
        for vm in vms.into_iter().flatten() {
            let found = number_of(&vm["vm"]);
            let Some((id, needs)) = of_host.iter().find(|it| Some(it.0) == found) else {
                judged = judged.and(Err(format!("{} is not on host {number}", vm["vm"])));
                continue;
            };
            told += 1;
            // Those that belong together are placed at once.
            let alone = self
                .ledger
                .beside(*id, crate::Rule::Together)
                .next()
                .is_none();
            let is_decided = vm.get("refused").is_none();
            let host = self.place_of(*id, needs, &vm, alone && is_decided);
            judged = judged.and(host.map(|host| places.extend(host.map(|host| (*id, host)))));
        }
        judged = judged.and(self.rules_of(places));
        self.ledger = before;
        if answer.status.is_success() && told != of_host.len() {
            let all = of_host.len();
            judged = judged.and(Err(format!(
                "{told} VMs of host {number} are told of, not {all}"
            )));
        }
        judged.map_err(|fault| format!("if host {number} failed: {fault}"))
    }

    fn confirm(&mut self, number: usize) -> Judged {
        let answer = self.post("/confirm", &json!({"vms": [vm(number)]}))?;
        let reserved = self.ledger.reserved(number).cloned();
        match (answer.status.is_success(), reserved) {
            (true, Some(_)) => {
                self.ledger.confirm(number);
                self.look_at_gpus(number)?;
            }
            (false, Some(place)) => {
                let state = self.ledger.hosts[place.host].state;
                if !matches!(state, "down" | "error") {
                    return Err(format!("the place of VM {number} is lost: {}", answer.body));
                }
            }
            (_, None) => {}
        }
        Ok(())
    }

    /// The GPUs that a VM was given where it runs now.
    fn look_at_gpus(&mut self, number: usize) -> Judged {
        let Some(place) = self.ledger.running(number).cloned() else {
            return Ok(());
        };
        if place.needs.gpus == 0 {
            return Ok(());
        }
        let answer = self.ask("GET", &format!("/vms/{}", vm(number)), None)?;
        let rows = answer.body["gpus"].as_array().cloned().unwrap_or_default();
        let mut gpus = Vec::new();
        for row in &rows {
            let index = row["index"]
                .as_u64()
                .and_then(|it| usize::try_from(it).ok());
            let index = index.ok_or("a GPU without a number")?;
            if row["share"].as_i64() != Some(place.needs.gpu_share) || gpus.contains(&index) {
                return Err(format!("VM {number} is given {row} of {rows:?}"));
            }
            gpus.push(index);
        }
        // A policy need not say which they are.
        let count = i64::try_from(gpus.len()).unwrap_or(i64::MAX);
        if count != 0 && count != place.needs.gpus {
            return Err(format!("VM {number} is given the GPUs {gpus:?}"));
        }
        self.say(number, gpus);
        match gpu_given_twice(&self.ledger, place.host) {
            Some(fault) => Err(format!("host {}: {fault}", place.host)),
            None => Ok(()),
        }
    }

    fn say(&mut self, number: usize, gpus: Vec<usize>) {
        let known = self.ledger.vms.get_mut(&number);
        if let Some(running) = known.and_then(|it| it.running.as_mut()) {
            running.gpus = gpus;
        }
    }

    /// Report the GPUs of a VM, if they can be those.
    fn say_gpus(&mut self, number: usize, first: usize) -> Judged {
        let is_settled = self.ledger.reserved(number).is_none();
        let Some(place) = self.ledger.running(number).cloned().filter(|_| is_settled) else {
            return Ok(());
        };
        let count = usize::try_from(place.needs.gpus).unwrap_or_default();
        let all = usize::try_from(self.ledger.hosts[place.host].spec.gpus).unwrap_or_default();
        if count == 0 || count > all {
            return Ok(());
        }
        let gpus: Vec<usize> = (first..first + count).map(|it| it % all).collect();
        if !may_have_gpus(&self.ledger, number, &place, &gpus) {
            return Ok(());
        }
        let share = place.needs.gpu_share;
        let rows = gpus.iter().map(|it| json!({"index": it, "share": share}));
        let body = json!({"gpus": rows.collect::<Vec<_>>()});
        if self.patch(&format!("/vms/{}", vm(number)), &body)? {
            self.say(number, gpus);
        }
        Ok(())
    }

    fn measure(&mut self, number: usize) -> Judged {
        if number >= self.ledger.hosts.len() {
            return Ok(());
        }
        self.ledger.measure(number);
        let id = host(number);
        let at = &self.ledger.hosts[number];
        let mut measured = json!({"id": id});
        if at.spec.pages > 0 {
            measured["huge-pages"] = json!([{"size": PAGE, "free": at.free_pages}]);
        }
        if !at.spec.nodes.is_empty() {
            let nodes = (0..).zip(at.spec.nodes.iter().zip(&at.free_of_nodes));
            let nodes = nodes.map(|(index, (total, free)): (i64, _)| {
                json!({"index": index, "memory.total": total * GIB, "memory.free": free})
            });
            measured["numa-nodes"] = nodes.collect();
        }
        let mut changes = json!({"hosts": [measured]});
        if let Some(free) = at.free {
            changes["statistics"] = json!([{"id": id, "memory.free": free}]);
        }
        let answer = self.post("/inventory/changes", &changes)?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(format!("a measurement is refused: {}", answer.body)),
        }
    }

    fn state(&mut self, number: usize, state: &'static str) -> Judged {
        if number >= self.ledger.hosts.len() {
            return Ok(());
        }
        let path = format!("/hosts/{}", host(number));
        if self.patch(&path, &json!({"state": state}))? {
            self.ledger.hosts[number].state = state;
        }
        // Places on a host that is dead may end.
        for vm_number in 0..16 {
            let on = self.ledger.reserved(vm_number).map(|it| it.host);
            if on == Some(number) {
                let path = format!("/reservations/{}", vm(vm_number));
                if !self.ask("GET", &path, None)?.status.is_success() {
                    if !matches!(state, "down" | "error") {
                        return Err(format!("the place of VM {vm_number} is lost"));
                    }
                    self.ledger.cancel(vm_number);
                }
            }
        }
        Ok(())
    }

    /// Begin a plan, as long as there is something to begin.
    fn carry_out(&mut self, made: &Answer, confirm: bool) -> Judged {
        match made.body["number"].as_u64() {
            Some(plan) => self.begin(plan, confirm),
            None => Ok(()),
        }
    }

    fn begin(&mut self, plan: u64, confirm: bool) -> Judged {
        for _ in 0..3 {
            let answer = self.post(&format!("/plans/{plan}/begin"), &json!({}))?;
            let moves = answer.body["moves"].as_array().cloned().unwrap_or_default();
            let mut begun = Vec::new();
            for step in &moves {
                let (Some(number), Some(to)) = (number_of(&step["vm"]), number_of(&step["to"]))
                else {
                    continue;
                };
                if step["state"] == "begun" && self.ledger.reserved(number).is_none() {
                    begun.push((number, to));
                    self.check_cause(number, step)?;
                }
            }
            if begun.is_empty() {
                return Ok(());
            }
            for (number, to) in &begun {
                let known = self.ledger.running(*number).cloned();
                let known = known.ok_or("a move of a VM that does not run")?;
                if let Some(fault) = promised_twice(&self.ledger, *number, *to, &known.needs) {
                    return Err(format!("VM {number} is moved to host {to}: {fault}"));
                }
                let place = Place {
                    host: *to,
                    needs: known.needs,
                };
                let expires = self.served.now() + RESERVED;
                self.ledger.reserve(*number, place, expires);
            }
            for (number, to) in &begun {
                if let Some(fault) = broken_rule(&self.ledger, *number, *to) {
                    return Err(format!("VM {number} is moved to host {to}: {fault}"));
                }
            }
            if !confirm {
                return Ok(());
            }
            for (number, _) in begun {
                self.confirm(number)?;
            }
        }
        Ok(())
    }

    /// That what a move was planned for is still the case when it is begun.
    fn check_cause(&self, number: usize, step: &Value) -> Judged {
        // A VM that goes with others leaves a host that is up, since one of them is to leave its own.
        let others = step["together"].as_array();
        let others = others.into_iter().flatten().filter_map(number_of);
        let is_up = |vm: usize| {
            let known = self.ledger.running(vm);
            known.is_none_or(|it| self.ledger.hosts[it.host].state == "up")
        };
        if step["cause"] == "host-state" && [number].into_iter().chain(others).all(is_up) {
            return Err(format!(
                "VM {number} is moved since a host was not up, its own or that of one that goes with it, and all are by now"
            ));
        }
        if step["cause"] == "hard-group"
            && let Some(group) = number_of(&step["group"])
            && is_satisfied(&self.ledger, group)
        {
            return Err(format!(
                "VM {number} is moved since it broke the rule of group {group}, which is satisfied by now"
            ));
        }
        Ok(())
    }

    fn patch_vm(&mut self, number: usize, memory: i64) -> Judged {
        let is_settled = self.ledger.reserved(number).is_none();
        if self.ledger.running(number).is_none() || !is_settled {
            return Ok(());
        }
        let path = format!("/vms/{}", vm(number));
        if self.patch(&path, &json!({"memory": memory * GIB}))? {
            let known = self.ledger.vms.get_mut(&number);
            if let Some(running) = known.and_then(|it| it.running.as_mut()) {
                running.place.needs.memory = memory;
            }
        }
        Ok(())
    }

    /// That the sums of a host are those of the ledger.
    fn check_sums(&mut self, number: usize) -> Judged {
        let answer = self.ask("GET", &format!("/hosts/{}", host(number)), None)?;
        self.check_sums_of(number, &answer.body)
    }

    /// The same of a host that is shown so.
    fn check_sums_of(&self, number: usize, host: &Value) -> Judged {
        let sum = |amount: &dyn Fn(&Needs) -> i64| {
            let mut sums = (0, 0);
            for vm in self.ledger.vms.values() {
                let running = vm.runs_on(number).map_or(0, amount);
                sums.0 += running;
                sums.1 += vm
                    .reserved_on(number)
                    .map_or(0, |it| (amount(it) - running).max(0));
            }
            sums
        };
        let memory = sum(&|it| it.memory * GIB);
        let cpu = sum(&|it| it.cpu);
        let own = sum(&Needs::own_cpus);
        let shown = |name: &str| host[name].as_f64().unwrap_or(f64::NAN);
        for (name, expected, unit) in [
            ("memory.committed", memory.0, 1.0),
            ("memory.pending", memory.1, 1.0),
            ("cpu.committed", cpu.0, 1000.0),
            ("cpu.pending", cpu.1, 1000.0),
            ("cpu.exclusive", own.0 + own.1, 1.0),
        ] {
            let given = shown(name) * unit;
            if (given - expected as f64).abs() > 0.5 {
                return Err(format!(
                    "{name} of host {number} is {given}, not {expected}"
                ));
            }
        }
        Ok(())
    }
}
