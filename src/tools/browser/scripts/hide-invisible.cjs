// Runs in a frame of a page, before its accessibility tree is read. Text that no person can see is what pages use to give
// orders to programs: it is made `visibility: hidden`, which moves nothing and which the tree leaves out. Returns what
// undoes that.
() => {
  const CONTROL =
    "a[href],button,input,select,textarea,label,summary,option,[role=button],[role=link],[role=menuitem],[role=tab],[role=checkbox],[role=radio],[role=switch],[role=option],[onclick]";
  // A control may show its label only when pointed at, or have one for readers alone; an order takes more words.
  const LABEL_CHARS = 80;
  // Nobody reads what is that faint, or that close to the colour behind it.
  const FAINT_ALPHA = 0.1;
  const SAME_COLOR = 12;
  const colorOf = (text) => {
    const [r = 0, g = 0, b = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    return { r, g, b, alpha };
  };
  const isClear = (text) => text === "transparent" || colorOf(text).alpha < FAINT_ALPHA;
  const looksLike = (one, other) => {
    if (one === other) return true;
    if (!/^rgba?\(/.test(one) || !/^rgba?\(/.test(other)) return false;
    const [a, b] = [colorOf(one), colorOf(other)];
    return Math.max(Math.abs(a.r - b.r), Math.abs(a.g - b.g), Math.abs(a.b - b.b)) <= SAME_COLOR;
  };
  const styles = new Map();
  const styleOf = (element) => {
    let style = styles.get(element);
    if (style === undefined) {
      style = getComputedStyle(element);
      styles.set(element, style);
    }
    return style;
  };
  const clipped = new Map();
  const isClipped = (element) => {
    if (element === null || element === document.body || element === document.documentElement) return false;
    const known = clipped.get(element);
    if (known !== undefined) return known;
    const style = styleOf(element);
    const rect = element.getBoundingClientRect();
    const isTiny = (rect.width <= 1 || rect.height <= 1) && style.overflow !== "visible";
    const isCut =
      /^rect\(0px, ?0px, ?0px, ?0px\)$|^rect\(1px, ?1px, ?1px, ?1px\)$/.test(style.clip) ||
      /^inset\((?:50|100)%/.test(style.clipPath) ||
      /\bopacity\(0(?:\.0\d*)?%?\)/.test(style.filter);
    const isAside =
      style.position !== "static" &&
      rect.width > 0 &&
      (rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0);
    const answer = isTiny || isCut || isAside || isClipped(element.parentElement);
    clipped.set(element, answer);
    return answer;
  };
  const backgrounds = new Map();
  const backgroundOf = (element) => {
    if (element === null) return "rgb(255, 255, 255)";
    if (backgrounds.has(element)) return backgrounds.get(element);
    const { backgroundColor, backgroundImage } = styleOf(element);
    const picture = backgroundImage !== "none";
    const answer = picture
      ? undefined
      : isClear(backgroundColor)
        ? backgroundOf(element.parentElement)
        : backgroundColor;
    backgrounds.set(element, answer);
    return answer;
  };
  // Shrunk to nothing; a box without a size may still hold text that has one.
  const hasNoSize = (element) => {
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.height > 0) return false;
    const range = document.createRange();
    range.selectNodeContents(element);
    const { width, height } = range.getBoundingClientRect();
    return width === 0 || height === 0;
  };
  const isInvisible = (element) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return false;
    if (element.textContent.trim().length <= LABEL_CHARS && element.closest(CONTROL) !== null) return false;
    if (!element.checkVisibility({ opacityProperty: true })) return true;
    const style = styleOf(element);
    if (Number.parseFloat(style.fontSize) < 3 || Number.parseFloat(style.textIndent) < -500) return true;
    const color = style.webkitTextFillColor || style.color;
    if (isClear(color) && style.backgroundClip !== "text") return true;
    if (isClipped(element) || hasNoSize(element)) return true;
    const background = backgroundOf(element);
    return background !== undefined && looksLike(color, background);
  };
  const found = new Set();
  const search = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.nodeType === Node.ELEMENT_NODE) {
        if (node.shadowRoot !== null) search(node.shadowRoot);
        continue;
      }
      const element = node.parentElement;
      if (element === null || found.has(element) || node.nodeValue.trim() === "") continue;
      if (isInvisible(element)) found.add(element);
    }
  };
  if (document.body !== null) search(document.body);
  const changed = [...found].map((element) => [element, element.getAttribute("style")]);
  // All is read before anything is changed: otherwise the browser would lay out the page again for each.
  for (const [element] of changed) element.style.setProperty("visibility", "hidden", "important");
  return () => {
    for (const [element, style] of changed) {
      if (style === null) element.removeAttribute("style");
      else element.setAttribute("style", style);
    }
  };
};
