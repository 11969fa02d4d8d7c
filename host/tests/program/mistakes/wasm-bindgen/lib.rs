//! Stands for wasm-bindgen: imports what a browser offers.

#[link(wasm_import_module = "__wbindgen_placeholder__")]
unsafe extern "C" {
    safe fn __wbg_now() -> f64;
}

pub fn now() -> f64 {
    __wbg_now()
}
