/** A page of the manual: its HTML, and its sections for the search. */

import { Marked, type Token, type Tokens } from 'marked'
import { Anchors } from './anchors.ts'

export interface Section {
  /** The fragment of the heading; '' for the top of the page. */
  readonly anchor: string
  readonly level: number
  readonly heading: string
  /** The text until the next heading, without markup. */
  readonly text: string
}

export interface Page {
  readonly html: string
  /** The first section has the title of the page. */
  readonly sections: readonly Section[]
}

/** Comments are for the tests and the generator. */
const COMMENT = /<!--[\s\S]*?-->\n?/g

export function renderPage(markdown: string): Page {
  const marked = new Marked({ gfm: true })
  const tokens = marked.lexer(markdown.replaceAll(COMMENT, ''))
  const anchors = new Anchors()
  const sections: Section[] = []
  const anchorOf = new Map<Token, string>()
  for (const token of tokens) {
    const last = sections.at(-1)
    if (token.type === 'heading') {
      const { depth: level, tokens: inner = [] } = token as Tokens.Heading
      const heading = textOf(inner)
      const anchor = anchors.next(heading)
      anchorOf.set(token, anchor)
      sections.push({ anchor: level === 1 ? '' : anchor, level, heading, text: '' })
    } else if (last !== undefined)
      sections[sections.length - 1] = { ...last, text: `${last.text} ${textOf([token])}`.trim() }
  }
  marked.use({
    renderer: {
      heading(token) {
        const { depth } = token
        const [anchor, html] = [anchorOf.get(token) ?? '', this.parser.parseInline(token.tokens)]
        const link =
          depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`
        return `<h${depth} id="${anchor}">${html}${link}</h${depth}>\n`
      },
      // A wide block scrolls by itself, with the keyboard too.
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
    },
  })
  const html = marked
    .parser(tokens)
    .replaceAll(/<th( [^>]*)?><\/th>/g, '<td></td>')
    .replaceAll(/<table>[\s\S]*?<\/table>/g, '<div class="wide" tabindex="0">$&</div>')
  return { html, sections }
}

export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')
}

/** The text of tokens without markup. */
function textOf(tokens: readonly Token[]): string {
  return tokens.map(textOfToken).join('').replaceAll(/\s+/g, ' ')
}

function textOfToken(token: Token): string {
  if (token.type === 'html') return ' '
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((row) => row.map((cell) => textOf(cell.tokens)).join(' ')).join(' ')
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => textOf(item.tokens)).join(' ')
  if ('tokens' in token && token.tokens !== undefined) return textOf(token.tokens)
  return 'text' in token ? String(token.text) : ' '
}
