// Runs in a page before a picture is taken of it: writes the refs of what can be clicked beside it.
(labels) => {
  const layer = document.createElement("hermes-labels");
  layer.style.cssText = "position:fixed;inset:0;z-index:2147483647;pointer-events:none";
  for (const { ref, x, y, width, height } of labels) {
    const frame = document.createElement("div");
    frame.style.cssText = `position:fixed;left:${x}px;top:${y}px;width:${width}px;height:${height}px;outline:2px solid #d00`;
    const label = document.createElement("span");
    label.textContent = ref;
    label.style.cssText =
      "position:absolute;left:0;top:-12px;font:bold 11px sans-serif;line-height:12px;padding:0 2px;color:#fff;background:#d00";
    frame.append(label);
    layer.append(frame);
  }
  document.documentElement.append(layer);
  return layer;
};
