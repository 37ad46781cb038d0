/**
 * The manual as plain HTML with a search. A page loads only files of the site, so that it works without a
 * server, and under a strict Content Security Policy.
 */

import { posix } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import { frame, type NavGroup } from './layout.ts'
import { linkPage, type Targets } from './links.ts'
import { type Page, renderPage } from './markdown.ts'

/** The files of a repository. */
export interface Repository {
  /** The texts of the pages by their paths, such as `docs/tls.md`; `README.md` is the front page. */
  readonly pages: Readonly<Record<string, string>>
  /** What a path of another file leads to. */
  kindOf(path: string): 'file' | 'folder' | null
}

export interface Site {
  /** The HTML of the pages, and the data of the search. */
  readonly files: ReadonlyMap<string, string>
  /** The files of the repository that are part of the site, by their addresses. */
  readonly copies: ReadonlyMap<string, string>
  /** The faults as `docs/tls.md:12: …`. */
  readonly faults: readonly string[]
}

/** A section as the search has it. */
export interface SearchEntry {
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

export function buildSite({ pages, kindOf }: Repository, version: string): Site {
  const rendered = new Map(Object.entries(pages).map(([path, text]) => [path, renderPage(text)]))
  const copies = new Map<string, string>()
  const targets = targetsIn(rendered, kindOf, copies)
  const groups = navigation(pages['README.md'] ?? '')
  const files = new Map<string, string>()
  const faults: string[] = []
  for (const [path, page] of rendered) {
    const { html, broken } = linkPage(path, page.html, targets)
    faults.push(...broken.map((link) => `${path}:${lineOf(pages[path] ?? '', link)}: ${link} leads nowhere`))
    files.set(fileOf(path), frame({ ...page, html, file: fileOf(path) }, groups, version))
  }
  const listed = new Set(['index.html', ...groups.flatMap(({ links }) => links.map(({ file }) => file))])
  const missing = [...rendered.keys()].filter((path) => !listed.has(fileOf(path)))
  faults.push(...missing.map((path) => `README.md:1: the section "Manual" does not list ${path}`))
  files.set('search-data.js', `globalThis.SEARCH = ${JSON.stringify(searchEntries(rendered))}\n`)
  return { files, copies, faults }
}

/** `docs/tls.md` is `tls.html`. */
function fileOf(path: string): string {
  const name = posix.basename(path, '.md').toLowerCase()
  return name === 'readme' ? 'index.html' : `${name}.html`
}

function targetsIn(
  pages: ReadonlyMap<string, Page>,
  kindOf: Repository['kindOf'],
  copies: Map<string, string>,
): Targets {
  const byPath = new Map(
    [...pages].map(([path, { html, sections }]) => [
      path,
      {
        file: fileOf(path),
        title: sections[0]?.heading ?? path,
        anchors: new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)),
      },
    ]),
  )
  return {
    page: (path) => byPath.get(path) ?? null,
    file: (path) => {
      const kind = kindOf(path)
      if (kind !== 'file') return kind === null ? undefined : null
      const address = `files/${path}`
      copies.set(address, path)
      return address
    },
  }
}

/** The line of a link in a page; the first one if it repeats. */
function lineOf(text: string, link: string): number {
  const at = [`](${link})`, `"${link}"`, link].map((each) => text.indexOf(each)).find((index) => index >= 0)
  return text.slice(0, at ?? 0).split('\n').length
}

/** The groups of pages, from the list in the section "Manual" of the front page. */
function navigation(readme: string): NavGroup[] {
  const tokens = new Marked().lexer(readme)
  const heading = tokens.findIndex((token) => token.type === 'heading' && token.text === 'Manual')
  const list = tokens.slice(heading).find((token) => token.type === 'list') as Tokens.List | undefined
  return (list?.items ?? []).map((item) => ({
    name: item.text.slice(0, item.text.indexOf(':')),
    links: linksIn(item.tokens).map(({ href, text }) => ({ file: fileOf(href), label: text })),
  }))
}

function linksIn(tokens: readonly Token[]): Tokens.Link[] {
  return tokens.flatMap((token) =>
    token.type === 'link' ? [token as Tokens.Link] : 'tokens' in token ? linksIn(token.tokens ?? []) : [],
  )
}

function searchEntries(pages: ReadonlyMap<string, Page>): SearchEntry[] {
  return [...pages].flatMap(([path, { sections }]) =>
    sections.map(({ anchor, heading, text }) => ({
      id: anchor === '' ? fileOf(path) : `${fileOf(path)}#${anchor}`,
      page: sections[0]?.heading ?? '',
      heading,
      text,
    })),
  )
}
