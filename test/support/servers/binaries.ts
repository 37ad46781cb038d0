/**
 * Finds the programs that tests start: on PATH, then where systems keep them, and else in the packages of Debian or
 * Ubuntu, which are unpacked beside the project (apt.ts). With `SEATGATE_TEST_SERVERS=download` in the environment what
 * the machine has is left out.
 */

import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { hasApt, librariesOf, unpacked } from './apt.ts'

export interface Program {
  readonly path: string
  /** What it needs in its environment to find its libraries. */
  readonly env: Readonly<Record<string, string>>
}

interface Source {
  /** Folders beyond PATH; of several that match, the newest version counts. */
  readonly places: readonly string[]
  /** What Debian and Ubuntu call the package, and where in it the program is. */
  readonly debian: { readonly name: string; readonly folder: string }
  readonly homebrew: string
}

const SOURCES = {
  'redis-server': {
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debian: { name: 'redis-server', folder: 'usr/bin' },
    homebrew: 'redis',
  },
  postgres: {
    places: [
      '/usr/lib/postgresql/*/bin',
      '/usr/pgsql-*/bin',
      '/usr/local/pgsql/bin',
      '/usr/local/opt/postgresql*/bin',
      '/opt/homebrew/opt/postgresql*/bin',
    ],
    debian: { name: 'postgresql', folder: 'usr/lib/postgresql/*/bin' },
    homebrew: 'postgresql',
  },
  pgbouncer: {
    places: ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debian: { name: 'pgbouncer', folder: 'usr/sbin' },
    homebrew: 'pgbouncer',
  },
  nginx: {
    places: ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
    debian: { name: 'nginx', folder: 'usr/sbin' },
    homebrew: 'nginx',
  },
  haproxy: {
    places: ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
    debian: { name: 'haproxy', folder: 'usr/sbin' },
    homebrew: 'haproxy',
  },
  caddy: {
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debian: { name: 'caddy', folder: 'usr/bin' },
    homebrew: 'caddy',
  },
  chromium: {
    places: ['/usr/bin', '/usr/lib/chromium', '/opt/homebrew/bin'],
    debian: { name: 'chromium', folder: 'usr/lib/chromium' },
    homebrew: 'chromium',
  },
} as const satisfies Record<string, Source>

export type ProgramName = keyof typeof SOURCES

const found = new Map<ProgramName, Promise<Program>>()

/** Rejects with a sentence that says what to install. */
export function findProgram(name: ProgramName): Promise<Program> {
  const program = found.get(name) ?? look(name)
  found.set(name, program)
  return program
}

async function look(name: ProgramName): Promise<Program> {
  const installed = process.env['SEATGATE_TEST_SERVERS'] === 'download' ? undefined : onMachine(name)
  if (installed !== undefined) return { path: installed, env: {} }
  const { debian, homebrew } = SOURCES[name]
  const advice = `The tests need ${name}: install it (apt install ${debian.name}, brew install ${homebrew}), or put it on PATH.`
  if (!hasApt()) throw new Error(advice)
  const root = await unpacked(debian.name).catch((cause: unknown) => {
    throw new Error(`${advice} Its packages could not be had: ${reasonOf(cause)}`, { cause })
  })
  const path = firstIn(newestFirst(join(root, debian.folder)), name)
  if (path === undefined) throw new Error(`${advice} It is not in the package ${debian.name}.`)
  return { path, env: { LD_LIBRARY_PATH: librariesOf(root) } }
}

/** The first line: apt says a lot. */
function reasonOf(cause: unknown): string {
  return String(cause).split('\n')[0] ?? ''
}

function onMachine(name: ProgramName): string | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return firstIn([...path, ...SOURCES[name].places.flatMap(newestFirst)], name)
}

function newestFirst(pattern: string): string[] {
  return globSync(pattern).toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
}

function firstIn(folders: readonly string[], name: string): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
