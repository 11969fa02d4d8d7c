//! What a case asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Common, told};
use placewright_document::form::Fields;
use placewright_document::made::{entry, list, table};
use placewright_document::{
    ClusterDocument, Content, Place, Problems, Surroundings, Table, requests_of_tree, shown,
};
use placewright_model::Request;

impl Common<'_> {
    /// What the case asks for.
    pub(super) fn request(
        &self,
        fields: &Fields<'_>,
        cluster: &ClusterDocument,
        hosts: &BTreeSet<Arc<str>>,
        problems: &mut Problems,
    ) -> Option<Request> {
        let draw = draw(fields, problems);
        let given = given(fields);
        let [key] = given[..] else {
            let message = match given[..] {
                [] => "a case needs \"vm\", \"vms\" or \"request\": what is to be placed",
                _ => "a case has one of \"vm\", \"vms\" and \"request\"",
            };
            problems.add(fields.place, message);
            return None;
        };
        let place = fields.place_of(key)?;
        let tree = match (key, fields.node("vm").map(|node| &node.content)) {
            ("vms", _) => {
                let tables = fields.tables("vms").iter().map(|table| (*table).clone());
                let together = entry("together", Content::Boolean(true), place);
                table(place, [entry("vms", list(place, tables), place), together])
            }
            ("request", _) => {
                let request = fields.table("request").into_iter().cloned();
                table(place, [entry("requests", list(place, request), place)])
            }
            (_, Some(Content::Table(vm))) => vm.clone(),
            (_, Some(Content::Text(vm))) => match self.known_vm(vm, cluster) {
                Some(mut request) => {
                    request.draw = draw;
                    return Some(request);
                }
                None => self.vm_document(vm, cluster, place, problems)?,
            },
            _ => {
                problems.add(
                    place,
                    "\"vm\" must be a table, the id of a VM of the cluster, or the path of a VM's document",
                );
                return None;
            }
        };
        let surroundings = Surroundings {
            schema: &cluster.schema,
            now: cluster.now.unwrap_or(0),
            hosts: Some(hosts),
        };
        let requests = match requests_of_tree(&tree, surroundings) {
            Ok(requests) => requests,
            Err(wrong) => {
                problems.append(wrong);
                return None;
            }
        };
        let Ok([mut request]) = <[Request; 1]>::try_from(requests) else {
            problems.add(place, "a case is about one request, and here are several");
            return None;
        };
        request.draw = draw.or(request.draw);
        Some(request)
    }

    /// The request that moves a VM of the cluster. Who owns a VM asks for it.
    fn known_vm(&self, id: &str, cluster: &ClusterDocument) -> Option<Request> {
        let placed = cluster.vms.iter().find(|placed| *placed.vm.id == *id)?;
        let mut request = Request {
            members: vec![placed.vm.clone()],
            now: cluster.now.unwrap_or(0),
            ..Request::default()
        };
        if let Some(tenant) = placed.vm.facts.get("tenant") {
            request.facts.set("tenant", tenant.clone());
        }
        Some(request)
    }

    /// The document that `vm` names.
    fn vm_document(
        &self,
        vm: &str,
        cluster: &ClusterDocument,
        place: &Place,
        problems: &mut Problems,
    ) -> Option<Table> {
        if vm.contains(['/', '\\', '.']) {
            return told(self.documents.file(vm), place, problems).map(|named| named.tree);
        }
        let message = format!("there is no VM \"{}\" in the cluster", shown(vm));
        let right = cluster.vms.iter().map(|placed| &*placed.vm.id);
        problems.add_misnamed(place, message, vm, right);
        None
    }
}

/// Whether the case says what is to be placed.
pub(super) fn asks_for_a_place(fields: &Fields<'_>) -> bool {
    !given(fields).is_empty()
}

/// The keys by which it says so.
fn given(fields: &Fields<'_>) -> Vec<&'static str> {
    let keys = ["vm", "vms", "request"].into_iter();
    keys.filter(|key| fields.place_of(key).is_some()).collect()
}

fn draw(fields: &Fields<'_>, problems: &mut Problems) -> Option<f64> {
    let draw = fields.number("draw")?;
    if (0.0..1.0).contains(&draw) {
        return Some(draw);
    }
    let place = fields.place_of("draw").unwrap_or(fields.place);
    problems.add(place, "\"draw\" must be 0 or more and less than 1");
    None
}
