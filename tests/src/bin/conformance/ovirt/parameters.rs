//! What oVirt's policy parameters are called here, and how their values are written.

use toml::Value;

/// How the value of a parameter becomes a setting.
#[derive(Debug, Clone, Copy)]
enum Form {
    Whole,
    Number,
    Minutes,
    Mebibytes,
    Boolean,
}

/// oVirt's name, ours, and how the value is written.
const PARAMETERS: &[(&str, &str, Form)] = &[
    ("HighUtilization", "high-utilization", Form::Whole),
    ("LowUtilization", "low-utilization", Form::Whole),
    (
        "CpuOverCommitDurationMinutes",
        "over-commit-duration",
        Form::Minutes,
    ),
    ("VCpuToPhysicalCpuRatio", "vcpu-to-cpu-ratio", Form::Number),
    (
        "MaxFreeMemoryForOverUtilized",
        "low-memory",
        Form::Mebibytes,
    ),
    (
        "MinFreeMemoryForUnderUtilized",
        "high-memory",
        Form::Mebibytes,
    ),
    ("SpmVmGrace", "spm-vm-grace", Form::Whole),
    ("HighVmCount", "high-vm-count", Form::Whole),
    ("MigrationThreshold", "migration-threshold", Form::Whole),
    ("ScaleDown", "scale-down", Form::Whole),
    (
        "MaximumAllowedSwapUsage",
        "maximum-allowed-swap-usage",
        Form::Whole,
    ),
    ("HostsInReserve", "hosts-in-reserve", Form::Whole),
    (
        "EnableAutomaticHostPowerManagement",
        "enable-host-power-management",
        Form::Boolean,
    ),
];

/// The setting that stands for a parameter of oVirt, with its value. None if there is
/// no such parameter, or the text is no value of it: oVirt takes the default then.
pub(super) fn setting(parameter: &str, text: &str) -> Option<(&'static str, Value)> {
    let known = PARAMETERS.iter().find(|(name, ..)| *name == parameter);
    let (_, setting, form) = known?;
    let whole = || text.parse::<i64>().ok();
    let value = match form {
        Form::Whole => Value::Integer(whole()?),
        Form::Number => Value::Float(text.parse().ok()?),
        Form::Minutes => Value::Integer(whole()?.checked_mul(60)?),
        Form::Mebibytes => Value::Integer(whole()?.checked_mul(1 << 20)?),
        Form::Boolean => Value::Boolean(text.parse().ok()?),
    };
    Some((setting, value))
}
