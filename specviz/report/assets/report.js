// Shows one of the replays; the list is there when there are several.

const replayPlace = document.getElementById("replay");
const replayChoice = document.getElementById("replay-choice");

function showReplay(index) {
  render({
    parentElement: replayPlace.shadowRoot,
    data: { source: String(index), mode: "replay", height: 360 },
    setTriggerValue() {},
  });
}

if (replayPlace !== null) {
  storedReplays.forEach(({ title }, index) => {
    const option = element("option", "", title);
    option.value = String(index);
    replayChoice.append(option);
  });
  replayChoice.parentElement.hidden = storedReplays.length < 2;
  replayChoice.addEventListener("change", () => showReplay(Number(replayChoice.value)));
  showReplay(0);
}
