/** The manual as HTML: each link leads somewhere, each page has what the others have, and a page loads nothing else. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { manualPages } from '../../docs/site/manual-pages.ts'
import { buildSite, type Repository, type Site } from '../../docs/site/site.ts'
import { root } from './pages.ts'

const pages = manualPages(root)
const repository: Repository = {
  pages,
  kindOf: (path) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found === undefined ? null : found.isFile() ? 'file' : 'folder'
  },
}
const site = buildSite(repository, '1.2.3')
/** What `docs/site/write.ts` adds. */
const ASSETS = ['site.css', 'site.js', 'icon.svg']

/** The site with a text at the end of a page. */
function withText(page: string, text: string): Site {
  return buildSite({ ...repository, pages: { ...pages, [page]: `${pages[page]}\n${text}\n` } }, '1.2.3')
}

t.test('the manual has no link that leads nowhere', async (t) => t.same(site.faults, []))

t.test('each address in the HTML exists', async (t) => {
  const html = [...site.files].filter(([file]) => file.endsWith('.html'))
  t.equal(html.length, Object.keys(pages).length)
  const files = new Set([...site.files.keys(), ...site.copies.keys(), ...ASSETS])
  const ids = (file: string) => site.files.get(file) ?? ''
  let count = 0
  for (const [page, text] of html)
    for (const [, name = '', address = ''] of text.matchAll(/ (href|src|srcset)="([^"]*)"/g)) {
      count++
      if (name === 'href' && /^https?:/.test(address)) continue
      const [file = '', anchor] = address.split('#')
      t.ok(file === '' || files.has(file), `${page}: ${address}`)
      if (anchor !== undefined) t.ok(ids(file || page).includes(` id="${anchor}"`), `${page}: ${address}`)
    }
  t.ok(count > 3000, `${count} addresses`)
})

t.test('a page has no script or style of its own, and loads nothing from another host', async (t) => {
  for (const [file, text] of site.files) {
    if (!file.endsWith('.html')) continue
    t.match(text, /<meta http-equiv="Content-Security-Policy" content="default-src 'none';/, file)
    t.notMatch(
      text,
      /<style|<script(?! src="site\.js")| style="| on[a-z]+="|<(?:img|script|source|link)[^>]*"(?:https?:)?\/\//,
      file,
    )
    t.equal(text.match(/<h1 /g)?.length, 1, `${file} has one title`)
    t.match(text, file === 'index.html' ? 'href="cli.html"' : 'aria-current="page"', file)
  }
})

t.test('pictures and other files are part of the site', async (t) => {
  t.equal(
    site.copies.get('files/docs/images/console-overview-dark.png'),
    'docs/images/console-overview-dark.png',
  )
  t.equal(site.copies.get('files/deploy/compose.yaml'), 'deploy/compose.yaml')
})

t.test('the search has the text of each section once', async (t) => {
  const data = site.files.get('search-data.js') ?? ''
  const entries: { id: string; heading: string; text: string }[] = JSON.parse(data.slice(data.indexOf('[')))
  t.equal(new Set(entries.map(({ id }) => id)).size, entries.length)
  t.match(
    entries.find(({ id }) => id === 'versions.html#how-long'),
    { heading: 'How long', text: /newest minor/ },
  )
  for (const { id, text } of entries) t.notMatch(text, /<!--|\]\(/, id)
})

const FAULTS: readonly [link: string, shown: string][] = [
  ['[x](nowhere.md)', 'nowhere.md'],
  ['[x](tls.md#nowhere)', 'tls.md#nowhere'],
  ['[x](#nowhere)', '#nowhere'],
  ['[x](../src/nowhere.ts)', '../src/nowhere.ts'],
  ['![x](images/nowhere.png)', 'images/nowhere.png'],
  ['<img src="images/none.png" alt="x">', 'images/none.png'],
  ['![x](https://pictures.example/x.png)', 'https://pictures.example/x.png'],
  ['[x](javascript:alert(1))', 'javascript:alert(1)'],
]
t.test('a link that leads nowhere is a fault with its file and line', async (t) => {
  const lines = pages['docs/cli.md']?.split('\n').length ?? 0
  const text = FAULTS.map(([link]) => `\n${link}`).join('\n')
  const shown = FAULTS.map(([, link], at) => `docs/cli.md:${lines + 2 + 2 * at}: ${link} leads nowhere`)
  t.same(withText('docs/cli.md', text).faults, shown)
})

t.test('a page that the front page does not list is a fault', async (t) => {
  const more = buildSite({ ...repository, pages: { ...pages, 'docs/new.md': '# New\n' } }, '1.2.3')
  t.same(more.faults, ['README.md:1: the section "Manual" does not list docs/new.md'])
})

t.test('a link that has the name of a page shows its title; a link to a folder is text', async (t) => {
  const html = withText('docs/cli.md', '[tls.md](tls.md) [deploy](../deploy)').files.get('cli.html') ?? ''
  t.match(html, '<a href="tls.html">TLS</a>')
  t.match(html, />deploy<\/a>/)
  t.notMatch(html, /href="[^"]*\.\.\/deploy/)
})
