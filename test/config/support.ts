/** Real files in a folder of their own, loaded as by `seatgate check`. For the tests of this folder. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { Config } from '../../src/config/config.ts'
import { formatFault } from '../../src/config/faults.ts'
import { type LoadResult, loadConfigWithFaults } from '../../src/config/load.ts'

export const SECRET = 'secret-of-acme-secret-of-acme-secret'

/** A tenant and an upstream on two lines; settings of a test start in line 3. */
export const BASE = `tenants: { acme: { token: { secrets: ['${SECRET}'] } } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
`

export type Files = Readonly<Record<string, string | Uint8Array>>

export class Folder {
  readonly path: string

  constructor(t: Test, files: Files = {}) {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), 'seatgate-config-')))
    t.teardown(() => rmSync(this.path, { recursive: true, force: true }))
    this.write(files)
  }

  file(name: string): string {
    return join(this.path, name)
  }

  write(files: Files): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(this.file(name)), { recursive: true })
      writeFileSync(this.file(name), content)
    }
  }

  load(env: NodeJS.ProcessEnv = {}, name = 'gateway.config.yaml'): Promise<LoadResult> {
    return loadConfigWithFaults(this.file(name), env)
  }

  /** Errors as printed, with file names relative to this folder. */
  async faults(env: NodeJS.ProcessEnv = {}, name = 'gateway.config.yaml'): Promise<string[]> {
    const { faults } = await this.load(env, name)
    return faults.map((fault) => formatFault(fault).replace(`${this.path}/`, ''))
  }
}

/** Errors of one main file, without its name: `line:column: message`. */
export async function faultsOf(
  t: Test,
  text: string | Uint8Array,
  env: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  const folder = new Folder(t, { 'gateway.config.yaml': text })
  return (await folder.faults(env)).map((line) => line.replace('gateway.config.yaml:', ''))
}

export async function configOf(t: Test, text: string, env: NodeJS.ProcessEnv = {}): Promise<Config> {
  const { config, faults } = await new Folder(t, { 'gateway.config.yaml': text }).load(env)
  if (config === null) throw new Error(faults.map(formatFault).join('\n'))
  return config
}

/** Errors of one route table, without its name. */
export async function tableFaults(t: Test, table: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [routes.yaml]\n`,
    'routes.yaml': table,
  })
  return (await folder.faults(env)).map((line) => line.replace('routes.yaml:', ''))
}
