//! Stands for web-time: the time, as a browser has it.

pub fn now() -> f64 {
    wasm_bindgen::now()
}
