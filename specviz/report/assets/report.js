// Shows one of the replays; the list is there when there are several.

const replayPlace = document.getElementById("replay");
const replayChoice = document.getElementById("replay-choice");

const inAddress = new URLSearchParams(window.location.hash.slice(1));

// Arm, step and time, which the strip writes there, are of the replay that was shown before.
function chooseReplay(index) {
  window.history.replaceState(null, "", `#replay=${index + 1}`);
  showReplay(index);
}

function showReplay(index) {
  render({
    parentElement: replayPlace.shadowRoot,
    data: { source: String(index), mode: "replay", height: 360 },
    setTriggerValue() {},
    setStateValue() {},
  });
}

if (replayPlace !== null) {
  storedReplays.forEach(({ title }, index) => {
    const option = element("option", "", title);
    option.value = String(index);
    replayChoice.append(option);
  });
  replayChoice.parentElement.hidden = storedReplays.length < 2;
  replayChoice.addEventListener("change", () => chooseReplay(Number(replayChoice.value)));
  const linked = Number(inAddress.get("replay")) - 1;
  const first = storedReplays[linked] ? linked : 0;
  replayChoice.value = String(first);
  showReplay(first);
}
