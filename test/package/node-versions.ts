/** Versions of Node.js and npm, from npm's packages of these names. Each is fetched once a machine. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from '../support/servers/cache.ts'

/** The test runner gives options to each Node.js below it, which npm can't bear. */
export function npm(cwd: string, ...args: string[]): string {
  const words = ['-u', 'NODE_OPTIONS', 'npm', ...args, '--no-audit', '--no-fund', '--loglevel=error']
  return execFileSync('env', words, { cwd, stdio: 'pipe', encoding: 'utf8' })
}

/** The folder of npm's cache on the machine. */
export function npmCache(): string {
  const folder = npm(tmpdir(), 'config', 'get', 'cache').trim()
  mkdirSync(folder, { recursive: true })
  return folder
}

/**
 * The registry and the certificates that npm uses on the machine, for another root. Credentials are not among them.
 *
 * @param place the file of the certificates there
 */
export function npmSettings(place: string): { npmrc: string; authorities: string | null } {
  const setting = (key: string) => npm(tmpdir(), 'config', 'get', key).trim()
  const authorities = setting('cafile')
  const lines = [`registry=${setting('registry')}`]
  if (authorities === 'null') return { npmrc: `${lines[0]}\n`, authorities: null }
  return { npmrc: `${[...lines, `cafile=${place}`].join('\n')}\n`, authorities }
}

/** The folder with the program `node`. */
export function nodeOf(version: string): string {
  return join(packageOf('node', version), 'bin')
}

/** The folder of npm itself. */
export function npmOf(version: string): string {
  return packageOf('npm', version)
}

function packageOf(name: 'node' | 'npm', version: string): string {
  const kept = join(cacheFolder(), `${name}-${version}`)
  if (!existsSync(kept)) {
    const prefix = mkdtempSync(`${kept}-`)
    writeFileSync(join(prefix, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }')
    npm(prefix, 'install', '--prefer-offline', `${name}@${version}`)
    try {
      renameSync(prefix, kept)
    } catch (cause) {
      // Another test file was first.
      rmSync(prefix, { recursive: true })
      if (!existsSync(kept)) throw cause
    }
  }
  return join(kept, 'node_modules', name)
}
