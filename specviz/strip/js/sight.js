// Where a step is in the window.

const MARGIN_PX = 12;

/** Scroll `part` into view; the inspector lies over the lower end of the page: the step must not be under it. */
export function bringIntoSight(part, scroller, inspector) {
  part.style.scrollMarginBottom = "0";
  part.scrollIntoView({ block: "nearest", behavior: "instant" });
  const covered = () =>
    part.getBoundingClientRect().bottom + MARGIN_PX - inspector.getBoundingClientRect().top;
  if (covered() > 0) scroller.scrollBy({ top: covered(), behavior: "instant" });
  if (covered() > 0) {
    part.style.scrollMarginBottom = `${inspector.offsetHeight + 2 * MARGIN_PX}px`;
    part.scrollIntoView({ block: "nearest", behavior: "instant" });
  }
}
