/** The links of a page: where they lead on the site, and which of them lead nowhere. */

import { posix } from 'node:path'
import { escapeHtml } from './markdown.ts'

export interface TargetPage {
  readonly file: string
  readonly title: string
  readonly anchors: ReadonlySet<string>
}

/** The addresses of files of the repository on the site. */
export interface Targets {
  /** The page's file and its anchors; null: the file is no page. */
  page(path: string): TargetPage | null
  /** The address of another file, which becomes part of the site; null: it is a folder; undefined: there is none. */
  file(path: string): string | null | undefined
}

export interface LinkedPage {
  readonly html: string
  /** The links that lead nowhere, as the page has them. */
  readonly broken: readonly string[]
}

const ATTRIBUTE = /(<(?:a|img|source)\b[^>]*?\s)(href|src|srcset)="([^"]*)"/g

/** A link that has the name of a page's file as its text: the site shows the title. */
const NAMED = />([a-z-]+\.md)<\/a>/g

/** @param path of the page in the repository */
export function linkPage(path: string, html: string, targets: Targets): LinkedPage {
  const broken: string[] = []
  const linked = html.replaceAll(ATTRIBUTE, (whole, before: string, name: string, link: string) => {
    if (name === 'href' && /^(?:https?|mailto):/.test(link)) return whole
    const address = addressOf(path, link, targets)
    if (address === undefined) broken.push(link)
    // A folder of the repository is not on the site: its name stays, without a link.
    return address == null ? before : `${before}${name}="${address}"`
  })
  const titled = linked.replaceAll(NAMED, (whole, name: string) => {
    const title = targets.page(`docs/${name}`)?.title
    return title === undefined ? whole : `>${escapeHtml(title)}</a>`
  })
  return { html: titled, broken }
}

/** @returns null: a folder; undefined: the link leads nowhere, or to another host, from which a page loads nothing */
function addressOf(from: string, link: string, targets: Targets): string | null | undefined {
  const [, relative = '', anchor] = /^([^#]*)(?:#(.*))?$/.exec(link) ?? []
  const target = relative === '' ? from : posix.join(posix.dirname(from), relative)
  const page = targets.page(target)
  if (page === null) return anchor === undefined ? targets.file(target) : undefined
  if (anchor === undefined) return page.file
  return page.anchors.has(anchor) ? `${relative === '' ? '' : page.file}#${anchor}` : undefined
}
