/**
 * Fetches and builds the suites of other people that docs/conformance.md names, before the tests beside this file run them. Says
 * which suite it cannot have and why; with `--all`, that is a failure.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasApt, unpackedRoot } from '../support/servers/apt.ts'
import { goBuild } from '../support/servers/go.ts'
import { missing } from '../deploy/programs.ts'
import { debianSource } from './debian-source.ts'
import { places } from './places.ts'

/** The commit of a tag: who moves the tag does not change the suite. */
const LLHTTP = { tag: 'v9.4.2', commit: '01e105a30fd06e248bc8ac73c4adb34a63d4114a' }

type Fetch = (folder: string) => void | Promise<void>

/** Name → how to fetch it where it is not here; throws a sentence if it cannot be had. */
const SUITES: Readonly<Record<string, Fetch>> = {
  h2spec: () => onPath('h2spec'),
  llhttp: (folder) => {
    if (existsSync(places.llhttp)) return
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    git('clone', '--quiet', '--depth=1', `--branch=${LLHTTP.tag}`, 'https://github.com/nodejs/llhttp', '.')
    const commit = git('rev-parse', 'HEAD').trim()
    if (commit !== LLHTTP.commit) throw new Error(`${LLHTTP.tag} is ${commit}, and not ${LLHTTP.commit}`)
    moveTo(places.llhttp, join(folder, 'test'))
  },
  'gRPC interop': async (folder) => {
    if (existsSync(places.interop)) return
    if (!hasApt()) throw new Error('apt is not here')
    const path = join(folder, 'path')
    const source = join(path, 'src/google.golang.org/grpc')
    mkdirSync(join(source, '..'), { recursive: true })
    renameSync(debianSource('golang-google-grpc', folder), source)
    const libraries = await unpackedRoot(['golang-google-grpc-dev', 'golang-github-golang-protobuf-1-5-dev'])
    const programs = join(folder, 'programs')
    mkdirSync(programs)
    for (const name of ['client', 'server'])
      await goBuild(
        join(programs, name),
        `google.golang.org/grpc/interop/${name}`,
        [path, join(libraries, 'usr/share/gocode')],
        folder,
      )
    rmSync(libraries, { recursive: true })
    moveTo(places.interop, programs)
  },
}

function onPath(program: string): void {
  const reason = missing(program)
  if (reason !== false) throw new Error(reason)
}

/** Whole or not at all. */
function moveTo(place: string, from: string): void {
  cpSync(from, `${place}.part`, { recursive: true })
  renameSync(`${place}.part`, place)
}

async function isHere(name: string, fetch: Fetch): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-suite-'))
  try {
    await fetch(folder)
    console.log(`${name}: here`)
    return true
  } catch (cause) {
    const [reason] = String(cause instanceof Error ? cause.message : cause)
      .trim()
      .split('\n')
    console.log(`${name}: SKIPPED, ${reason}`)
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

let areAllHere = true
for (const [name, fetch] of Object.entries(SUITES)) areAllHere = (await isHere(name, fetch)) && areAllHere
process.exitCode = areAllHere || !process.argv.includes('--all') ? 0 : 1
