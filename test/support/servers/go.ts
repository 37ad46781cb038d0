/**
 * Programs in Go, built by Go of the machine or of Debian's packages (90 MB to fetch). The programs are kept,
 * and the packages are not.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Test } from 'tap'
import { hasApt, unpacked } from './apt.ts'
import { cacheFolder } from './cache.ts'
import { serverFolder } from './folder.ts'

const hasGo = () =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'go')))

/** False, or why nothing can be built here. */
export const cannotBuild: string | false = hasGo() || hasApt() ? false : 'neither go nor apt is here'

/** A package of Debian with libraries in source, and a folder of its own. */
export interface GoLibraries {
  readonly name: string
  readonly folder: string
}

/**
 * @param source a single file
 * @returns the program
 */
export async function builtByGo(t: Test, source: string, libraries?: GoLibraries): Promise<string> {
  const digest = createHash('sha256').update(readFileSync(source)).update(process.arch)
  const program = join(cacheFolder(), `go-${digest.digest('hex').slice(0, 16)}`)
  if (!existsSync(program)) await build(t, program, source, libraries)
  return program
}

async function build(t: Test, program: string, source: string, libraries?: GoLibraries): Promise<void> {
  const isHere = libraries === undefined || existsSync(`/${libraries.folder}`)
  const sources = isHere ? '/' : await unpacked(libraries.name)
  // Libraries that are installed are not fetched.
  const path = [join(sources, 'usr/share/gocode'), '/usr/share/gocode']
  await goBuild(program, source, path, serverFolder(t, 'go'))
  if (sources !== '/') rmSync(sources, { recursive: true })
}

/**
 * @param source a file or a folder
 * @param path the folders of `GOPATH`
 * @param folder an empty folder for intermediate files
 */
export async function goBuild(
  program: string,
  source: string,
  path: readonly string[],
  folder: string,
): Promise<void> {
  const go = hasGo() ? '/' : await unpacked('golang-go')
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH: path.join(delimiter),
    GOCACHE: join(folder, 'cache'),
    ...(go === '/' ? {} : { GOROOT: join(go, 'usr/lib/go') }),
  }
  const made = join(folder, 'made')
  const command = go === '/' ? 'go' : join(go, 'usr/lib/go/bin/go')
  execFileSync(command, ['build', '-o', made, source], { env, stdio: 'pipe' })
  if (go !== '/') rmSync(go, { recursive: true })
  copyFileSync(made, `${program}.part`)
  renameSync(`${program}.part`, program)
}
