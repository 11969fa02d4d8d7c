//! Values of keys are texts; those that are plain decimal numbers count.

/// The number that the whole text is: digits with or without a sign, a point and
/// an exponent. `nan`, `inf`, `0x1`, ` 1` and the like are none.
///
/// What is greater than floats go counts as the greatest float.
pub fn number(text: &str) -> Option<f64> {
    if !is_decimal(text) {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    Some(number.clamp(f64::MIN, f64::MAX))
}

/// `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?`
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = unsigned(mantissa)
        .split_once('.')
        .unwrap_or((unsigned(mantissa), ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    has_digits
        && are_digits(whole)
        && are_digits(fraction)
        && exponent
            .map(unsigned)
            .is_none_or(|digits| !digits.is_empty() && are_digits(digits))
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_decimal_numbers_are_numbers() {
        for (text, value) in [
            ("0", 0.0),
            ("+2", 2.0),
            ("-1.25", -1.25),
            ("5.", 5.0),
            (".5", 0.5),
            ("-.25E2", -25.0),
            ("1e1", 10.0),
            ("1e-2", 0.01),
            ("007", 7.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "", " 1", "1 ", "gold", "nan", "inf", "-inf", "infinity", "0x10", "1_0", "1e", "e1",
            "1e+", "--1", "+-1", "+", ".", "-.", ".e1", "1.2.3", "1e1.5", "1e1e1", "1,5", "٣",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_beyond_floats_are_the_greatest_float() {
        assert_eq!(number("1e999"), Some(f64::MAX));
        assert_eq!(number("-1e999"), Some(f64::MIN));
        assert_eq!(number("1e-999"), Some(0.0));
    }

    proptest! {
        #[test]
        fn a_number_written_out_is_the_same_number(
            value in prop::num::f64::POSITIVE
                | prop::num::f64::NEGATIVE
                | prop::num::f64::NORMAL
                | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        ) {
            prop_assert_eq!(number(&value.to_string()), Some(value));
        }

        #[test]
        fn whatever_is_accepted_is_finite(text in "[-+.0-9eE]{0,12}") {
            prop_assert!(number(&text).is_none_or(f64::is_finite));
        }
    }
}
