/** Real files in a folder of their own, loaded as by `seatgate check`. For the tests of this folder. */

import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Config } from '../../src/config/config.ts'
import { type Fault, formatFault } from '../../src/config/faults.ts'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { type LoadResult, loadConfigWithFaults } from '../../src/config/load.ts'
import { writeFiles } from '../support/configuration.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { record } from './messages.ts'

export const SECRET = 'secret-of-acme-secret-of-acme-secret'

/** A tenant and an upstream on two lines; settings of a test start in line 3. */
export const BASE = `tenants: { acme: { token: { secrets: ['${SECRET}'] } } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
`

export type Files = Readonly<Record<string, string | Uint8Array>>

const MAIN = 'gateway.config.yaml'

export class Folder {
  readonly path: string
  readonly #texts = new Map<string, string>()

  constructor(t: Test, files: Files = {}) {
    this.path = realpathSync(serverFolder(t, 'config'))
    this.write(files)
  }

  file(name: string): string {
    return join(this.path, name)
  }

  write(files: Files): void {
    writeFiles(this.path, files)
    for (const [name, content] of Object.entries(files))
      this.#texts.set(name, Buffer.from(content).toString())
  }

  load(env: NodeJS.ProcessEnv = {}, name = MAIN): Promise<LoadResult> {
    return loadConfigWithFaults(this.file(name), env)
  }

  /**
   * Asserts the number and the places of the faults. Their messages stand in the test's file in `messages/`.
   * @param places in order, with a space between: `3:9` in the main file, `routes.yaml:3:9` in another
   * @returns what is printed of them
   */
  async faultsAt(t: Test, places: string, env: NodeJS.ProcessEnv = {}, name = MAIN): Promise<string> {
    return this.areAt(t, (await this.load(env, name)).faults, places, env)
  }

  /** As `faultsAt`, of faults that were found in this folder. */
  areAt(t: Test, faults: readonly Fault[], places: string, env: NodeJS.ProcessEnv = {}): string {
    const printed = faults.map(formatFault).join('\n')
    t.equal(faults.map((fault) => this.#record(fault, env)).join(' '), places, printed)
    return printed
  }

  /**
   * As `faultsAt`, of warnings with their codes: `env_file_shared .env:1:1`. `secret_literal` is left out where the main file has `SECRET`.
   * @returns what is printed of them
   */
  async warningsAt(t: Test, places: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { warnings, config } = await this.load(env)
    t.ok(config, 'has no fault')
    const hasSecret = this.#texts.get(MAIN)?.includes(SECRET) === true
    const rest = warnings.filter(({ code }) => !hasSecret || code !== 'secret_literal')
    const found = rest.map((warning) => `${warning.code} ${this.#record(warning, env)}`)
    t.same(found, places)
    return rest.map(formatFault).join('\n')
  }

  /** @returns its place */
  #record({ place: { file, line, column }, message }: Fault, env: NodeJS.ProcessEnv): string {
    const name = file.replace(`${this.path}/`, '')
    const place = `${name}:${line}:${column}`.replace(`${MAIN}:`, '')
    const text = (this.#texts.get(name) ?? '').replaceAll(SECRET, '…')
    record(message.replaceAll(`${this.path}/`, ''), { place, text, env })
    return place
  }
}

/** With one main file. */
export function folderOf(t: Test, text: string | Uint8Array): Folder {
  return new Folder(t, { [MAIN]: text })
}

/** With one route table, `routes.yaml`. */
export function tableFolder(t: Test, table: string): Folder {
  return new Folder(t, { [MAIN]: `${BASE}routes: [routes.yaml]\n`, 'routes.yaml': table })
}

/** As `Folder.faultsAt`, of one main file. */
export function faultsAt(
  t: Test,
  text: string | Uint8Array,
  places: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  return folderOf(t, text).faultsAt(t, places, env)
}

/** As `Folder.faultsAt`, of one route table `routes.yaml`; places in the table are without its name. */
export async function tableFaultsAt(
  t: Test,
  table: string,
  places: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const named = places.replace(/\d+:\d+/g, (place) => `routes.yaml:${place}`)
  return tableFolder(t, table).faultsAt(t, named, env)
}

/** Asserts that a parser refuses the text. Why stands in the test's file in `messages/`. */
export function refuses(t: Test, parse: (text: string) => unknown, text: string): void {
  const value = parse(text)
  if (value instanceof InvalidValue) record(value.message, { place: '', text })
  t.ok(value instanceof InvalidValue, JSON.stringify(text))
}

export async function configOf(t: Test, text: string, env: NodeJS.ProcessEnv = {}): Promise<Config> {
  const { config, faults } = await folderOf(t, text).load(env)
  if (config === null) throw new Error(faults.map(formatFault).join('\n'))
  return config
}
