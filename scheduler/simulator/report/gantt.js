// A Gantt chart on a canvas: time across, rows down. The page of the gateway draws the plan with it, and the simulator a
// schedule: there this text stands within the page itself, so it imports nothing.

// Seconds between two marks of time.
const kSteps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600,
  2592000, 7776000, 31536000];
const kBeyond = 8; // pixels that a bar may reach out of the chart, so that its round corners are not seen
const kFont = "11px system-ui, sans-serif";

// A canvas as sharp as the screen; the context draws in the page's own pixels.
export function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.round(height * ratio);
  canvas.style.setProperty("height", height + "px");
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = kFont;
  return context;
}

// frame: { left, right, top, bottom }, what lies around the chart; view: { t0, t1 }, the seconds that it shows.
export function scaleX({ left, right }, view, width) {
  return (time) => left + ((time - view.t0) / (view.t1 - view.t0)) * (width - left - right);
}

// Lines at whole moments, with their texts above a chart that has room there, else below it.
// words: { timeText(time), colour(name), markWidth, origin }: a mark's time and the origin make a multiple of the step.
export function drawTimes(context, frame, view, { width, height }, words) {
  const x = scaleX(frame, view, width);
  const most = (width - frame.left - frame.right) / words.markWidth;
  const span = view.t1 - view.t0;
  const step = kSteps.find((one) => span / one <= most) || 10 ** Math.ceil(Math.log10(span / most));
  context.strokeStyle = words.colour("line");
  context.fillStyle = words.colour("faint");
  context.textAlign = "center";
  context.lineWidth = 1;
  for (let time = Math.ceil((view.t0 + words.origin) / step) * step - words.origin; time <= view.t1; time += step) {
    const place = Math.round(x(time)) + 0.5;
    context.beginPath();
    context.moveTo(place, Math.max(0, frame.top - 4));
    context.lineTo(place, height - frame.bottom);
    context.stroke();
    const text = words.timeText(time);
    if (place + context.measureText(text).width / 2 <= width) {
      context.fillText(text, place, frame.top > 0 ? frame.top - 12 : height - 6);
    }
  }
  context.textAlign = "left";
}

// The least of 1, 2, 5, 10, 20 and so on that is no less.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least);
}

// words, besides those of drawTimes: rowText(row), rowGap (pixels from one row's text to the next), and labelOf(bar) and
// labelInk() where bars have texts.
export class GanttChart {
  constructor(canvas, frame, words) {
    Object.assign(this, { canvas, frame, words, bars: [], longest: 0, marked: null });
  }

  // bars: [{ start, end, top, bottom, key, fill, style, faint }] by start, in seconds and rows. The style "promised" is what
  // does not run yet, and "reserved" lies below the others; all bars of one key are marked together.
  show(bars) {
    this.bars = bars;
    this.longest = bars.reduce((most, bar) => Math.max(most, bar.end - bar.start), 0);
  }

  // view: { t0, t1, p0, p1 }: the seconds and the rows that are seen.
  draw(view, width, height) {
    Object.assign(this, { view, width, height, x: scaleX(this.frame, view, width) });
    this.tall = height - this.frame.top - this.frame.bottom;
    const context = prepare(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    drawTimes(context, this.frame, view, this, this.words);
    this.drawRows(context);
    context.save();
    context.beginPath();
    context.rect(this.frame.left, this.frame.top, width - this.frame.left - this.frame.right, this.tall);
    context.clip();
    const look = { line: this.words.colour("line"), ink: this.words.colour("ink"), labelInk: this.words.labelInk?.(),
      apart: this.tall / (view.p1 - view.p0) > 4 };
    for (const below of [true, false]) {
      this.inView((bar) => (bar.style === "reserved") === below && this.drawBar(context, bar, look));
    }
    context.restore();
    return context;
  }

  y(row) {
    return this.frame.top + ((row - this.view.p0) / (this.view.p1 - this.view.p0)) * this.tall;
  }

  timeAt(x) {
    return this.view.t0 + ((x - this.frame.left) / (this.width - this.frame.left - this.frame.right)) * (this.view.t1 - this.view.t0);
  }

  rowAt(y) {
    return this.view.p0 + ((y - this.frame.top) / this.tall) * (this.view.p1 - this.view.p0);
  }

  // The bar that is seen there; a short one can be met as if it were two pixels wide.
  barAt(x, y) {
    if (!this.view || x < this.frame.left || x > this.width - this.frame.right) {
      return null;
    }
    const time = this.timeAt(x);
    const row = this.rowAt(y);
    const least = 2 * (this.timeAt(1) - this.timeAt(0));
    let found = null;
    this.inView((bar) => {
      const meets = bar.start <= time && Math.max(bar.end, bar.start + least) > time && bar.top <= row && bar.bottom > row;
      if (meets && (bar.style !== "reserved" || !found)) {
        found = bar;
      }
    });
    return found;
  }

  // No bar is longer than the longest, so those that began earlier than that are over.
  inView(take) {
    let low = 0;
    let high = this.bars.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.bars[middle].start < this.view.t0 - this.longest) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (let i = low; i < this.bars.length && this.bars[i].start <= this.view.t1; ++i) {
      const bar = this.bars[i];
      if (bar.end >= this.view.t0 && bar.bottom > this.view.p0 && bar.top < this.view.p1) {
        take(bar);
      }
    }
  }

  drawRows(context) {
    const { p0, p1 } = this.view;
    const step = roundStep((this.words.rowGap * (p1 - p0)) / this.tall);
    context.fillStyle = this.words.colour("faint");
    context.textAlign = "right";
    for (let row = Math.floor(p0 / step) * step; row < p1; row += step) {
      const place = this.y(row + 0.5) + 4;
      if (place > this.frame.top && place <= this.frame.top + this.tall) {
        context.fillText(this.words.rowText(row), this.frame.left - 6, Math.max(place, this.frame.top + 10), this.frame.left - 8);
      }
    }
    context.textAlign = "left";
  }

  drawBar(context, bar, look) {
    const x = Math.max(this.x(bar.start), this.frame.left - kBeyond);
    const y = this.y(bar.top);
    const wide = Math.min(this.x(bar.end), this.width - this.frame.right + kBeyond) - x;
    const high = this.y(bar.bottom) - y;
    const apart = look.apart && bar.style !== "reserved";
    const w = Math.max(1, apart && wide > 3 ? wide - 1 : wide);
    const h = Math.max(0.7, apart && high > 3 ? high - (high > 16 ? 3 : 1) : high);
    context.beginPath();
    if (w >= 6 && h >= 6) {
      context.roundRect(x, y, w, h, Math.min(4, h / 2));
    } else {
      context.rect(x, y, w, h);
    }
    context.globalAlpha = bar.faint ? 0.12 : bar.style === "reserved" ? 0.7 : bar.style === "promised" ? 0.28 : 1;
    context.fillStyle = bar.style === "reserved" ? look.line : bar.fill;
    context.fill();
    context.globalAlpha = 1;
    if (bar.style === "promised" || (bar.key !== undefined && bar.key === this.marked)) {
      context.setLineDash(bar.style === "promised" ? [4, 3] : []);
      context.lineWidth = bar.key === this.marked ? 2 : 1;
      context.strokeStyle = bar.key === this.marked ? look.ink : bar.fill;
      context.stroke();
    }
    if (this.words.labelOf && h >= 12 && w > 34) {
      context.save();
      context.clip();
      const from = Math.max(x, this.frame.left) + 5;
      context.fillStyle = bar.style ? look.ink : look.labelInk;
      context.fillText(this.words.labelOf(bar), from, y + h / 2 + 4, Math.max(1, x + w - from - 3));
      context.restore();
    }
  }
}
