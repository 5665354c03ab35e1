// Runs in a page: its pictures, largest first.
({ most, chars }) => {
  const images = [...document.images].filter((image) => image.checkVisibility() && image.currentSrc !== "");
  const size = (image) => image.naturalWidth * image.naturalHeight;
  images.sort((a, b) => size(b) - size(a));
  return {
    total: images.length,
    images: images.slice(0, most).map((image) => ({
      src: image.currentSrc.startsWith("data:")
        ? `${image.currentSrc.slice(0, 40)}… (${image.currentSrc.length} characters)`
        : image.currentSrc.slice(0, 2000),
      alt: (image.alt || image.title || "").slice(0, chars),
      width: image.naturalWidth,
      height: image.naturalHeight,
    })),
  };
};
