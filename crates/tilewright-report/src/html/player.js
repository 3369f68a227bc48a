// Play, step and seek.

const STEPS_PER_SECOND = 4;

/** Controls over `steps` steps; `show` is called with a step's number, and gives what is said about it. */
function player(name, steps, show, first = 0) {
  let timer = null;
  const control = el("input", { type: "range", min: 0, max: Math.max(steps - 1, 0), value: 0, "aria-label": name, input: () => seek(Number(control.value)) });
  const play = el("button", { click: () => (timer ? stop() : start()) }, "Play");
  const button = (label, target) => el("button", { click: () => { stop(); seek(target()); } }, label);
  const said = el("output", { class: "faint" });
  const now = () => Number(control.value);
  const controls = el(
    "div",
    { class: "player", role: "group", "aria-label": name, hidden: steps < 2 ? "" : null },
    button("Back", () => now() - 1),
    play,
    button("Next", () => now() + 1),
    control,
    said,
  );

  function seek(step) {
    control.value = clamp(step, 0, Math.max(steps - 1, 0));
    const text = show(now());
    control.setAttribute("aria-valuetext", text);
    said.textContent = text;
  }
  function start() {
    if (now() === steps - 1) seek(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      // A page that shows another picture has dropped these controls.
      if (!controls.isConnected || now() === steps - 1) stop();
      else seek(now() + 1);
    }, 1000 / STEPS_PER_SECOND);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  seek(first);
  return { controls, seek, stop, now };
}
