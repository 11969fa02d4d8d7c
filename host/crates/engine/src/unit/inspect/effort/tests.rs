use super::super::Interfaces;
use crate::unit::LoadError;

/// What is said of a component that is no unit: nothing, if it would not take too much.
fn refused(text: &str) -> Option<String> {
    let bytes = wat::parse_str(text).unwrap();
    match Interfaces::read(&bytes).unwrap_err() {
        LoadError::NoUnit => None,
        error @ LoadError::TooMuchWork(_) => Some(error.to_string()),
        other => panic!("{other}"),
    }
}

fn assert_refused(text: &str, sentence: &str) {
    let said = refused(text).unwrap_or_default();
    assert!(said.contains(sentence), "{said}");
    assert!(said.len() < 400, "{}", said.len());
}

fn module(content: &str) -> String {
    format!("(component (core module {content}))")
}

#[test]
fn elements_that_become_code_are_counted() {
    let elements = |number: usize| {
        let functions = "$f ".repeat(number);
        module(&format!(
            "(func $f) (table {number} funcref)
             (elem (offset (i32.add (i32.const 0) (i32.const 0))) func {functions})"
        ))
    };
    assert_eq!(refused(&elements(20_000)), None);
    assert_refused(&elements(60_000), "elements of tables");
    let passive = "(ref.func $f) ".repeat(60_000);
    let passive = module(&format!(
        "(func $f) (elem funcref {})",
        passive.replace("(ref.func", "(item ref.func")
    ));
    assert_refused(&passive, "elements of tables");
    let sum = "(i32.const 1) i32.add ".repeat(30_000);
    let sum = sum.replace("(i32.const 1)", "i32.const 1");
    assert_refused(
        &module(&format!("(global i32 i32.const 0 {sum})")),
        "instructions of initial values",
    );
}

#[test]
fn values_that_branches_carry_are_counted() {
    let branching = |locals: usize, branches: usize| {
        let (locals, branches) = (
            "i64 ".repeat(locals),
            "(br_if 0 (local.get 0))".repeat(branches),
        );
        module(&format!(
            "(func (param i32) (local {locals}) (loop {branches}))"
        ))
    };
    assert_eq!(refused(&branching(1000, 10_000)), None);
    assert_refused(&branching(10_000, 10_000), "function 0 carry more than");
    let many = "i32 ".repeat(900);
    let calls = "call $f ".repeat(20_000);
    let calling = format!(
        "(type $t (func (param {many}) (result {many}))) (func $f (type $t) unreachable)
         (func (type $t) unreachable {calls})"
    );
    assert_refused(&module(&calling), "function 1 carry more than");
}

#[test]
fn a_function_of_many_bytes_is_refused() {
    let function = |bytes: usize| module(&format!("(func {})", "nop ".repeat(bytes)));
    assert_eq!(refused(&function(1_000_000)), None);
    assert_refused(&function(1_100_000), "function 0 has");
}

#[test]
fn instances_of_instances_are_counted() {
    let doubled = |times: usize, inner: &str| {
        let mut text = format!("(component $c0 {inner})");
        for number in 1..=times {
            let before = number - 1;
            text += &format!(
                "(component $c{number} (alias outer 1 $c{before} (component $c))
                   (instance (instantiate $c)) (instance (instantiate $c)))"
            );
        }
        format!("(component {text} (instance (instantiate $c{times})))")
    };
    let inner = "(core module $m) (core instance (instantiate $m))";
    assert_eq!(refused(&doubled(5, inner)), None);
    assert_refused(&doubled(7, inner), "instances of modules");
    assert_eq!(refused(&doubled(8, "")), None);
    assert_refused(&doubled(40, ""), "instances of components");
}

#[test]
fn segments_are_counted_for_each_instance_of_their_module() {
    let instances = |number: usize| {
        let data = "x".repeat(4 << 20);
        let instances = "(core instance (instantiate $m))".repeat(number);
        format!(
            "(component (core module $m (memory 100) (data (i32.const 0) \"{data}\")) {instances})"
        )
    };
    assert_eq!(refused(&instances(20)), None);
    assert_refused(&instances(40), "bytes of segments");
}

#[test]
fn a_module_that_is_instantiated_by_an_alias_is_counted_too() {
    let data = "x".repeat(4 << 20);
    let instances = "(core instance (instantiate $n))".repeat(40);
    let text = format!(
        "(component (core module $m (memory 100) (data (i32.const 0) \"{data}\"))
           (component (alias outer 1 $m (core module $n)) {instances}))"
    );
    assert_refused(&text, "bytes of segments");
}

#[test]
fn a_function_with_a_long_name_is_refused() {
    let named = |length: usize| module(&format!("(func ${})", "x".repeat(length)));
    assert_eq!(refused(&named(10_000)), None);
    assert_refused(&named(20_000), "the name of its function 0");
}
