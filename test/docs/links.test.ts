/** Links and paths inside the manual lead to files and headings that exist. The files are part of the package too. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob, normalize } from 'node:path'
import t from 'tap'
import { Anchors } from '../../docs/site/anchors.ts'
import { pages, root, textOf } from './pages.ts'

const LINK = /\]\(([^()\s]+)\)/g
/** `src/…` and its like: a file or folder. */
const PATH = /`((?:src|seats-admin|test|bench|deploy|docs|routes)\/[\w./-]*)`/g

function anchorsOf(page: string): Set<string> {
  const prose = textOf(page).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  const anchors = new Anchors()
  return new Set(headings.map((heading) => anchors.next(heading)))
}

const { files }: { files: string[] } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** What npm packs without being told to. */
const ALWAYS = ['README.md', 'LICENSE', 'package.json']
/** The charts of the benchmark: the package has nothing of `bench`. */
const CHARTS = /^bench\/\w+\.svg$/

function isInPackage(path: string): boolean {
  const matches = (entry: string) => matchesGlob(path, entry) || path.startsWith(`${entry}/`)
  const isLeftOut = files.some((entry) => entry.startsWith('!') && matches(entry.slice(1)))
  return !isLeftOut && [...ALWAYS, ...files].some(matches)
}

for (const page of pages)
  t.test(page, async (t) => {
    for (const [, link = ''] of textOf(page).matchAll(LINK)) {
      if (/^https?:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      t.ok(existsSync(join(root, target)), `${link} exists`)
      t.ok(isInPackage(target) || CHARTS.test(target), `${link} is in the package`)
      if (anchor !== undefined && target.endsWith('.md'))
        t.ok(anchorsOf(target).has(anchor), `${link} has its heading`)
    }
    for (const [, path = ''] of textOf(page).matchAll(PATH))
      t.ok(existsSync(join(root, path)), `${path} exists`)
  })
