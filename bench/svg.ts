/** Shared parts of the drawings: an SVG with a background of its own, light or dark by the reader's preference. */

const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de }
  text { fill: #24292f; font: 12px system-ui, sans-serif; paint-order: stroke; stroke: #ffffff; stroke-width: 4 }
  .title { font-size: 14px; font-weight: 600 }
  .quiet { fill: #57606a }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .median { stroke: #0969da; fill: #0969da }
  .tail { stroke: #bc4c00; fill: #bc4c00 }
  .plain { fill: #8c959f }
  .bar { stroke: none }
  polyline.line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #30363d }
    text { fill: #e6edf3; stroke: #0d1117 }
    .quiet { fill: #9198a1 }
    .grid { stroke: #30363d }
    .median { stroke: #4493f8; fill: #4493f8 }
    .tail { stroke: #f0883e; fill: #f0883e }
    .plain { fill: #6e7681 }
    .bar { stroke: none }
  }`

export function svg(width: number, height: number, label: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">
<style>${STYLE}
</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${parts.join('\n')}
</svg>
`
}

export function text(x: number, y: number, kind: string, words: string, anchor = 'start'): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped(words)}</text>`
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** A round number, slightly above the value, whose half is short too. */
export function ceiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value) ?? 10) * power
}

export function round(value: number): number {
  return Math.round(value * 10) / 10
}
