/** What the steps of a release check share: clones of HEAD, the packages that they make, and an installation. */

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './command.ts'

/** The clone that is checked. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Build {
  readonly clone: string
  /** The path of the package. */
  readonly archive: string
  readonly sha256: string
  /** In bytes. */
  readonly size: number
}

/** What differs between the two builds, besides the time. */
const SURROUNDINGS = [
  { folder: 'clone', umask: '022', env: { TZ: 'UTC', LC_ALL: 'C' } },
  { folder: 'another/place/of-the-clone', umask: '077', env: { TZ: 'Asia/Kolkata', LC_ALL: 'C.UTF-8' } },
] as const

export class Workshop implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'seatgate-release-'))
  readonly #builds = new Map<number, Promise<Build>>()
  #installation: Promise<string> | null = null

  /** The package of a clean clone of HEAD with `npm ci` of its own. @param which 0 or 1 */
  build(which: 0 | 1): Promise<Build> {
    const build = this.#builds.get(which) ?? this.#build(which)
    this.#builds.set(which, build)
    return build
  }

  async #build(which: 0 | 1): Promise<Build> {
    const { folder, umask, env } = SURROUNDINGS[which]
    const clone = join(this.folder, `${which}`, folder)
    mkdirSync(dirname(clone), { recursive: true })
    const inShell = (cwd: string, command: string) =>
      run(cwd, ['sh', '-c', `umask ${umask} && ${command}`], env)
    await inShell(dirname(clone), `git clone --quiet --no-hardlinks '${ROOT}' '${clone}'`)
    await inShell(clone, 'npm ci --prefer-offline --no-audit --no-fund')
    const name = (await inShell(clone, 'exec npm pack --silent')).trim()
    const archive = join(clone, name)
    const content = readFileSync(archive)
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { clone, archive, sha256, size: content.length }
  }

  /** The package, installed into an empty folder. @returns the folder `node_modules` */
  installation(): Promise<string> {
    this.#installation ??= this.#install()
    return this.#installation
  }

  async #install(): Promise<string> {
    const { archive } = await this.build(0)
    const folder = join(this.folder, 'installation')
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    await run(folder, ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', archive])
    return join(folder, 'node_modules')
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 })
  }
}
