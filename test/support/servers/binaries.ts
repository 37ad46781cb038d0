/**
 * Finds the programs that tests start: on PATH, then where systems keep them, and else in the packages of
 * Debian or Ubuntu, which are unpacked beside the project (apt.ts). With `SEATGATE_TEST_SERVERS=download` in
 * the environment, programs of the machine are not used.
 */

import { accessSync, constants, existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { hasApt, librariesOf, unpacked } from './apt.ts'

export interface Program {
  readonly path: string
  /** What it needs in its environment to find its libraries. */
  readonly env: Readonly<Record<string, string>>
}

interface Source {
  /** The names of the package in Debian, Ubuntu and Homebrew, if they differ from the program's. */
  readonly debian?: string
  readonly homebrew?: string
  /** Folders in addition to PATH, also in the package; if several match, the newest version counts. */
  readonly places?: readonly string[]
}

const SOURCES = {
  'redis-server': { homebrew: 'redis' },
  postgres: {
    debian: 'postgresql',
    homebrew: 'postgresql',
    places: [
      '/usr/lib/postgresql/*/bin',
      '/usr/pgsql-*/bin',
      '/usr/local/pgsql/bin',
      '/usr/local/opt/postgresql*/bin',
      '/opt/homebrew/opt/postgresql*/bin',
    ],
  },
  pgbouncer: {},
  nginx: {},
  haproxy: {},
  etcd: { debian: 'etcd-server' },
  patroni: {},
  caddy: {},
  spin: {},
  chromium: { places: ['/usr/lib/chromium'] },
} as const satisfies Record<string, Source>

/** The folders in which systems keep programs. */
const PLACES = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin']

export type ProgramName = keyof typeof SOURCES

const programs = new Map<ProgramName, Promise<Program>>()

/** Rejects with a sentence that says what to install. */
export function findProgram(name: ProgramName): Promise<Program> {
  const program = programs.get(name) ?? look(name)
  programs.set(name, program)
  return program
}

async function look(name: ProgramName): Promise<Program> {
  const installed = process.env['SEATGATE_TEST_SERVERS'] === 'download' ? undefined : onMachine(name)
  if (installed !== undefined) return { path: installed, env: {} }
  const { debian = name, homebrew = name }: Source = SOURCES[name]
  const advice = `The tests need ${name}: install it (apt install ${debian}, brew install ${homebrew}), or put it on PATH.`
  if (!hasApt()) throw new Error(advice)
  const root = await unpacked(debian).catch((cause: unknown) => {
    throw new Error(`${advice} Its packages could not be had: ${reasonOf(cause)}`, { cause })
  })
  const path = firstIn(placesOf(name, root), name)
  if (path === undefined) throw new Error(`${advice} It is not in the package ${debian}.`)
  const modules = join(root, 'usr/lib/python3/dist-packages')
  const python = existsSync(modules) ? { PYTHONPATH: modules } : {}
  return { path, env: { LD_LIBRARY_PATH: librariesOf(root), ...python } }
}

/** The first line, because apt prints many. */
function reasonOf(cause: unknown): string {
  return String(cause).split('\n')[0] ?? ''
}

function onMachine(name: ProgramName): string | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return firstIn([...path, ...placesOf(name, '/')], name)
}

function placesOf(name: ProgramName, root: string): string[] {
  const { places = [] }: Source = SOURCES[name]
  const folders = [...places, ...PLACES].map((place) => globSync(join(root, place)))
  return folders.flatMap((each) => each.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })))
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
