//! Draws replays of one cluster in one picture: hosts in use, VMs, promised CPU and memory over
//! time, a line for each policy.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{ClusterReport, Series};
use crate::simulate::plot::{
    FAINT, GIB, PANEL_HEIGHT, PlotError, TITLE_HEIGHT, TimeAxis, WIDTH, panel_chart, text,
    thousands,
};

/// Colours that people who see few colours tell apart (Okabe and Ito).
const COLORS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x33, 0x33, 0x33),
];

/// One figure over time.
struct Panel {
    title: &'static str,
    value: fn(&Series) -> f64,
}

const PANELS: [Panel; 4] = [
    Panel {
        title: "Hosts in use",
        value: |point| f64::from(point.used_hosts),
    },
    Panel {
        title: "VMs that run",
        value: |point| f64::from(point.vms),
    },
    Panel {
        title: "CPU promised, cores",
        value: |point| point.promised_millicores as f64 / 1000.0,
    },
    Panel {
        title: "Memory promised, GiB",
        value: |point| point.promised_memory_bytes as f64 / GIB,
    },
];

/// The replays as an SVG file, each with the name that it is called by.
///
/// # Errors
/// If the drawing library fails.
pub fn svg(replays: &[(&str, &ClusterReport)]) -> Result<String, PlotError> {
    let mut svg = String::new();
    draw(replays, &mut svg).map_err(|error| PlotError::of(&error))?;
    Ok(svg)
}

fn draw(
    replays: &[(&str, &ClusterReport)],
    svg: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let height = TITLE_HEIGHT + PANELS.len() as u32 * PANEL_HEIGHT;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (heading, rest) = root.split_vertically(TITLE_HEIGHT);
    if let Some((_, first)) = replays.first() {
        let title = format!(
            "Cluster {}: {} hosts, {} VMs at the start, {} events",
            first.cluster,
            thousands(f64::from(first.hosts)),
            thousands(f64::from(first.vms)),
            thousands(first.events as f64),
        );
        heading.draw(&Text::new(title, (20, 14), text(21)))?;
        let subtitle = "Each point is the greatest value of its interval.";
        heading.draw(&Text::new(subtitle, (20, 44), text(14)))?;
        let axis = TimeAxis::between(0, first.to - first.from);
        let areas = rest.split_evenly((PANELS.len(), 1));
        for (area, panel) in areas.iter().zip(&PANELS) {
            draw_panel(area, panel, replays, &axis)?;
        }
    }
    root.present()?;
    Ok(())
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &Panel,
    replays: &[(&str, &ClusterReport)],
    axis: &TimeAxis,
) -> Result<(), Box<dyn std::error::Error>> {
    let points = replays.iter().flat_map(|(_, report)| &report.series);
    let greatest = points.map(panel.value).fold(1.0, f64::max);
    let mut chart = panel_chart(area, panel.title, axis, greatest)?;
    for ((name, report), color) in replays.iter().zip(COLORS.into_iter().cycle()) {
        let curve = report.series.iter().map(|point| {
            let time = (point.time - report.from) as f64 / axis.seconds;
            (time, (panel.value)(point))
        });
        chart
            .draw_series(LineSeries::new(curve, color.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(FAINT)
        .label_font(text(13))
        .draw()?;
    Ok(())
}
