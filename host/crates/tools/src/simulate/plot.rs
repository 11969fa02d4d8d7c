//! Draws a replay as a picture: hosts in use, promised cores and memory over time.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::{Fleet, Outcome, Point, Report};

pub(super) const WIDTH: u32 = 1000;
pub(super) const TITLE_HEIGHT: u32 = 70;
pub(super) const PANEL_HEIGHT: u32 = 270;
const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(0x33, 0x38, 0x3d);
pub(super) const FAINT: RGBColor = RGBColor(0xe3, 0xe6, 0xe9);

/// One figure over time.
struct Panel {
    title: &'static str,
    /// What the filled curve is.
    curve: &'static str,
    color: RGBColor,
    capacity: f64,
    value: fn(&Point) -> f64,
}

fn panels(fleet: Fleet) -> [Panel; 3] {
    [
        Panel {
            title: "Hosts",
            curve: "in use",
            color: RGBColor(0x24, 0x63, 0xa6),
            capacity: f64::from(fleet.hosts),
            value: |point| f64::from(point.usage.hosts),
        },
        Panel {
            title: "CPU, cores",
            curve: "promised to VMs",
            color: RGBColor(0xb8, 0x5a, 0x12),
            capacity: fleet.total_cpu() / 1000.0,
            value: |point| point.usage.load.cpu as f64 / 1000.0,
        },
        Panel {
            title: "Memory, GiB",
            curve: "promised to VMs",
            color: RGBColor(0x2c, 0x7a, 0x51),
            capacity: fleet.total_memory() / GIB,
            value: |point| point.usage.load.memory as f64 / GIB,
        },
    ]
}

pub(super) const GIB: f64 = (1u64 << 30) as f64;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the replay: {0}")]
pub struct PlotError(String);

impl PlotError {
    pub(super) fn of(error: &dyn std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// The replay as an SVG file.
///
/// # Errors
/// If the drawing library fails.
pub fn svg(outcome: &Outcome) -> Result<String, PlotError> {
    let mut svg = String::new();
    draw(outcome, &mut svg).map_err(|error| PlotError(error.to_string()))?;
    Ok(svg)
}

fn draw(outcome: &Outcome, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let height = TITLE_HEIGHT + 3 * PANEL_HEIGHT;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (heading, rest) = root.split_vertically(TITLE_HEIGHT);
    let report = &outcome.report;
    heading.draw(&Text::new(title(report), (20, 14), text(21)))?;
    heading.draw(&Text::new(subtitle(report), (20, 44), text(14)))?;
    let axis = TimeAxis::of(outcome.timeline.points());
    for (area, panel) in rest.split_evenly((3, 1)).iter().zip(panels(report.fleet)) {
        draw_panel(area, &panel, outcome.timeline.points(), &axis)?;
    }
    root.present()?;
    Ok(())
}

fn title(report: &Report) -> String {
    let Fleet { hosts, cpu, memory } = report.fleet;
    format!(
        "Policy {} on {} hosts of {} cores and {} GiB",
        report.policy,
        thousands(f64::from(hosts)),
        cpu as f64 / 1000.0,
        (memory as f64 / GIB * 100.0).round() / 100.0
    )
}

fn subtitle(report: &Report) -> String {
    let file = report
        .trace
        .name
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    format!(
        "{file}: {} VMs placed, {} rejected. Each point is the greatest value of its interval.",
        thousands(report.placed as f64),
        thousands(report.rejected as f64)
    )
}

/// Time in a measure that gives readable numbers.
pub(super) struct TimeAxis {
    pub(super) name: &'static str,
    pub(super) seconds: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl TimeAxis {
    fn of(points: &[Point]) -> Self {
        let time = |point: Option<&Point>| point.map_or(0.0, |point| point.time as f64);
        Self::of_seconds(time(points.first()).min(0.0), time(points.last()))
    }

    /// From one second to another.
    pub(super) fn between(from: i64, to: i64) -> Self {
        Self::of_seconds(from as f64, to as f64)
    }

    fn of_seconds(from: f64, to: f64) -> Self {
        let (name, seconds) = match to - from {
            length if length > 3.0 * 86_400.0 => ("days", 86_400.0),
            length if length > 3.0 * 3600.0 => ("hours", 3600.0),
            _ => ("seconds", 1.0),
        };
        Self {
            name,
            seconds,
            from: from / seconds,
            to: (to / seconds).max(from / seconds + 1e-6),
        }
    }
}

/// How texts look, in pixels.
pub(super) fn text(size: i32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK)
}

/// A panel over time with a grid and its axes, and nothing in it yet.
type PanelChart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// An empty panel with a title, in which values are up to `greatest`.
pub(super) fn panel_chart<'a, 'b>(
    area: &'a DrawingArea<SVGBackend<'b>, Shift>,
    title: &str,
    axis: &TimeAxis,
    greatest: f64,
) -> Result<PanelChart<'a, 'b>, Box<dyn std::error::Error>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, text(16))
        .margin(8)
        .margin_right(24)
        .x_label_area_size(38)
        .y_label_area_size(72)
        .build_cartesian_2d(axis.from..axis.to, 0.0..greatest * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE.mix(0.0))
        .bold_line_style(FAINT)
        .axis_style(INK)
        .x_desc(axis.name)
        .x_labels(15)
        .y_labels(6)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| thousands(*y))
        .label_style(text(13))
        .axis_desc_style(text(13))
        .draw()?;
    Ok(chart)
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &Panel,
    points: &[Point],
    axis: &TimeAxis,
) -> Result<(), Box<dyn std::error::Error>> {
    let greatest = points
        .iter()
        .map(panel.value)
        .fold(panel.capacity, f64::max);
    let mut chart = panel_chart(area, panel.title, axis, greatest)?;
    let curve: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (point.time as f64 / axis.seconds, (panel.value)(point)))
        .collect();
    let color = panel.color;
    chart
        .draw_series(
            AreaSeries::new(curve, 0.0, color.mix(0.2)).border_style(color.stroke_width(2)),
        )?
        .label(panel.curve)
        .legend(move |(x, y)| {
            Rectangle::new([(x, y - 5), (x + 18, y + 5)], color.mix(0.6).filled())
        });
    chart
        .draw_series(DashedLineSeries::new(
            [(axis.from, panel.capacity), (axis.to, panel.capacity)],
            6,
            4,
            INK.stroke_width(1),
        ))?
        .label(format!("all of the fleet: {}", thousands(panel.capacity)))
        .legend(|(x, y)| DashedPathElement::new([(x, y), (x + 18, y)], 6, 4, INK.stroke_width(1)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(FAINT)
        .label_font(text(13))
        .draw()?;
    Ok(())
}

/// A whole number with its thousands apart.
pub(super) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len() - place;
        if place > 0 && left.is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let shown = [0.0, 999.0, 1000.0, 1_234_567.4, -1000.0].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567", "-1,000"]);
    }
}
