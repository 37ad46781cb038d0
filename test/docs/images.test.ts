/** Pictures of the manual: pages show each of them, in both themes, and a clone stays small. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { pages, root, textOf } from './pages.ts'

const FOLDER = 'docs/images'
/** Bytes of all. */
const MOST = 1_600_000

const shown = new Set(
  pages.flatMap((page) =>
    [...textOf(page).matchAll(/(?:src|srcset)="([^":]+)"/g)].map(([, path = '']) =>
      normalize(join(dirname(page), path)),
    ),
  ),
)
const pictures = readdirSync(join(root, FOLDER)).map((name) => `${FOLDER}/${name}`)

t.test('a page shows each picture, and each that is shown exists', async (t) => {
  t.ok(pictures.length > 0)
  for (const picture of pictures) t.ok(shown.has(picture), `${picture} is shown`)
  for (const picture of shown) t.ok(existsSync(join(root, picture)), `${picture} exists`)
  for (const picture of pictures) {
    const other = picture.endsWith('-dark.png')
      ? picture.replace(/-dark\.png$/, '-light.png')
      : picture.replace(/-light\.png$/, '-dark.png')
    t.ok(other !== picture && pictures.includes(other), `${picture} has the other theme`)
  }
})

t.test('they are small', async (t) => {
  const bytes = pictures.reduce((sum, picture) => sum + statSync(join(root, picture)).size, 0)
  t.ok(bytes < MOST, `${bytes} bytes`)
})
