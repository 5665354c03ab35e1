// Runs in a page before a picture is taken of it: writes the refs of what can be clicked beside it.
(labels) => {
  const layer = document.createElement("hermes-labels");
  layer.style.cssText = "position:fixed;inset:0;z-index:2147483647;pointer-events:none";
  for (const { ref, x, y, width, height } of labels) {
    const frame = document.createElement("div");
    frame.style.cssText = `position:fixed;left:${x}px;top:${y}px;width:${width}px;height:${height}px;outline:2px solid #d00`;
    const label = document.createElement("span");
    label.textContent = ref;
    // Above it, or where there is still something to see.
    label.style.cssText = `position:absolute;left:${Math.max(0, -x)}px;top:${Math.max(-12, -y)}px;font:bold 11px sans-serif;line-height:12px;padding:0 2px;color:#fff;background:#d00`;
    frame.append(label);
    layer.append(frame);
  }
  document.documentElement.append(layer);
  return layer;
};
