/** Source packages of Debian or Ubuntu, for a suite that no binary package has. Nothing of the machine changes. */

import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** @param folder an empty one @returns where upstream's source is unpacked, without Debian's patches */
export function debianSource(name: string, folder: string): string {
  const parts = join(folder, 'sources')
  const lists = join(folder, 'lists')
  for (const each of [parts, join(lists, 'partial')]) mkdirSync(each, { recursive: true })
  for (const file of globSync('/etc/apt/sources.list{,.d/*}'))
    if (/\.(list|sources)$/.test(file))
      writeFileSync(join(parts, basename(file)), ofSources(readFileSync(file, 'utf8')))
  const options = [
    'Dir::Etc::sourcelist=/dev/null',
    `Dir::Etc::sourceparts=${parts}`,
    `Dir::State::lists=${lists}`,
  ]
  const apt = (...args: string[]) =>
    execFileSync('apt-get', [...options.flatMap((option) => ['-o', option]), ...args], {
      cwd: folder,
      stdio: 'pipe',
    })
  apt('update')
  apt('source', '--download-only', name)
  const [archive] = globSync('*.orig.tar.*[a-z2]', { cwd: folder })
  if (archive === undefined) throw new Error(`the source of ${name} has no archive`)
  const source = join(folder, 'source')
  mkdirSync(source)
  execFileSync('tar', ['-xf', archive, '-C', source, '--strip-components=1'], { cwd: folder })
  return source
}

/** The lines of a file of apt's, both formats, for source packages instead of binary ones. */
function ofSources(text: string): string {
  return text.replace(/^deb(?=\s)/gm, 'deb-src').replace(/^Types:.*$/gm, 'Types: deb-src')
}
