/**
 * `npm run docs:site`: writes the manual as HTML into a folder. The pages open from the folder itself and from
 * any static server. A link that leads nowhere is a fault: exit 1.
 *
 *   npm run docs:site -- [--out FOLDER]
 */

import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'
import { packageRoot, versionOf } from '../../src/config/package-version.ts'
import { manualPages } from './manual-pages.ts'
import { buildSite } from './site.ts'

const root = packageRoot()
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist/site') } } })
const { out } = values

const { files, copies, faults } = buildSite(
  {
    pages: manualPages(root),
    kindOf: (path) => {
      const found = statSync(join(root, path), { throwIfNoEntry: false })
      return found === undefined ? null : found.isFile() ? 'file' : 'folder'
    },
  },
  versionOf(root),
)
if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exit(1)
}
for (const name of ['files', 'images']) rmSync(join(out, name), { recursive: true, force: true })
for (const [file, text] of files) write(file, text)
for (const [file, source] of copies) {
  mkdirSync(dirname(join(out, file)), { recursive: true })
  cpSync(join(root, source), join(out, file))
}
cpSync(join(root, 'docs/site/site.css'), join(out, 'site.css'))
cpSync(join(root, 'seats-admin/console/icon.svg'), join(out, 'icon.svg'))
buildSync({
  entryPoints: [join(root, 'docs/site/browser.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  outfile: join(out, 'site.js'),
})
console.log(`${files.size} files in ${out}: open ${join(out, 'index.html')}`)

function write(file: string, text: string): void {
  mkdirSync(dirname(join(out, file)), { recursive: true })
  writeFileSync(join(out, file), text)
}
