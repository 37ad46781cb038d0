/** The frame of every page: the bar with the search, the list of pages, and the page itself. */

import { escapeHtml, type Section } from './markdown.ts'

export interface NavGroup {
  readonly name: string
  readonly links: readonly { readonly file: string; readonly label: string }[]
}

interface Framed {
  readonly file: string
  readonly html: string
  readonly sections: readonly Section[]
}

/** Loads nothing from another host, and runs no script of a page's own. */
const POLICY =
  "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'"

export function frame(
  { file, html, sections }: Framed,
  groups: readonly NavGroup[],
  version: string,
): string {
  const title = sections[0]?.heading ?? 'Seatgate'
  const name = `Seatgate ${version}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'Seatgate' ? name : `${escapeHtml(title)} · ${name}`}</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="site.css">
<script src="site.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header>
<a class="home" href="index.html">Seatgate <small>${escapeHtml(version)}</small></a>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search the manual" placeholder="Search" autocomplete="off" spellcheck="false">
<div class="results" hidden><p role="status"></p><ol></ol></div>
</div>
<a class="to-contents" href="#contents">Contents</a>
</header>
<main id="main">
${html}</main>
<nav id="contents" aria-label="Manual">
${groups.map((group) => navGroup(group, file, sections)).join('\n')}
</nav>
</body>
</html>
`
}

function navGroup({ name, links }: NavGroup, current: string, sections: readonly Section[]): string {
  const items = links.map(({ file, label }) => {
    const isCurrent = file === current
    const link = `<a href="${file}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(capitalized(label))}</a>`
    return `<li>${link}${isCurrent ? sectionList(sections) : ''}</li>`
  })
  return `<h2>${escapeHtml(name)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`
}

/** `gRPC` stays. */
function capitalized(label: string): string {
  return /^[a-z][A-Z]/.test(label) ? label : label.charAt(0).toUpperCase() + label.slice(1)
}

function sectionList(sections: readonly Section[]): string {
  const items = sections
    .filter(({ level }) => level === 2)
    .map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`)
  return items.length === 0 ? '' : `<ul>${items.join('')}</ul>`
}
