/** The package as users install it: packed, and installed into an empty folder with its production dependencies only. */

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The folder of an installation. It is removed with the test. */
export class Installation {
  readonly folder: string

  constructor(t: Test) {
    this.folder = mkdtempSync(join(tmpdir(), 'seatgate-package-'))
    t.teardown(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }))
  }

  /** Packs the clone and installs the result. */
  install(): void {
    npm(root, 'pack', '--pack-destination', this.folder)
    const archive = readdirSync(this.folder).find((name) => name.endsWith('.tgz')) ?? ''
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true }')
    npm(this.folder, 'install', '--omit=dev', '--prefer-offline', join(this.folder, archive))
  }

  /** Files of the installed package, and bytes of the whole installation. */
  files(): string[] {
    return readdirSync(join(this.folder, 'node_modules/seatgate'), { recursive: true, encoding: 'utf8' })
  }

  kibibytes(): number {
    const out = execFileSync('du', ['-sk', join(this.folder, 'node_modules')], { encoding: 'utf8' })
    return Number.parseInt(out, 10)
  }

  get command(): string {
    return join(this.folder, 'node_modules/.bin/seatgate')
  }
}

function npm(cwd: string, ...args: string[]): void {
  execFileSync('env', [...PLAIN, 'npm', ...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    stdio: 'pipe',
  })
}

/** Arguments of `env`: the test runner gives options to each Node.js below it, which other programs can't bear. */
export const PLAIN: readonly string[] = ['-u', 'NODE_OPTIONS']

/** The program of a Node.js version, from the npm package `node`. @returns its folder, for PATH */
export function nodeOf(version: string, folder: string): string {
  const prefix = join(folder, `node-${version}`)
  mkdirSync(prefix, { recursive: true })
  writeFileSync(join(prefix, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }')
  npm(prefix, 'install', '--prefer-offline', `node@${version}`)
  return join(prefix, 'node_modules/node/bin')
}

/** Runs the installed command by a Node.js. */
export class Runner {
  readonly #installation: Installation
  readonly #cwd: string
  readonly #env: NodeJS.ProcessEnv

  /** @param node the folder of the program; null: that of this process */
  constructor(installation: Installation, cwd: string, node: string | null, env: NodeJS.ProcessEnv) {
    this.#installation = installation
    this.#cwd = cwd
    const bin = node ?? dirname(process.execPath)
    this.#env = { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`, HOME: cwd, ...env }
  }

  /** Starts the command. It is killed with the test. */
  spawn(t: Test, ...args: string[]) {
    const command = [...PLAIN, this.#installation.command, ...args]
    const child = spawn('env', command, { cwd: this.#cwd, env: this.#env })
    t.teardown(() => child.kill('SIGKILL'))
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    const ended = new Promise<Ran>((resolve) => child.once('close', (code) => resolve({ code, out, err })))
    return { child, ended, out: () => out }
  }

  run(t: Test, ...args: string[]): Promise<Ran> {
    return this.spawn(t, ...args).ended
  }
}
