/** Descriptions of well-known APIs, from npm packages. Each is fetched once a machine. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { cacheFolder } from '../support/servers/cache.ts'

interface Description {
  /** Name and version. */
  readonly package: string
  /** The file in the package. One that ends with `.gz` is unpacked. */
  readonly file: string
  /** Of the file that is kept. */
  readonly name: string
}

/** OpenAPI 3.0. The package has 385 MB. */
export const GITHUB: Description = {
  package: '@octokit/openapi@23.0.2',
  file: 'package/generated/api.github.com.json',
  name: 'github-api-23.0.2.json',
}

/** Swagger 2. */
export const KUBERNETES: Description = {
  package: 'kubernetes-client@9.0.0',
  file: 'package/lib/specs/swagger-1.13.json.gz',
  name: 'kubernetes-api-1.13.json',
}

/** @returns the path of the description; null: the registry is out of reach */
export function pathOf(description: Description): string | null {
  const path = join(cacheFolder(), description.name)
  if (existsSync(path)) return path
  using folder = mkdtempDisposableSync(join(tmpdir(), 'seatgate-description-'))
  // npm fails with the options that a coverage run gives Node.js.
  const pack = ['npm', 'pack', description.package, '--silent', '--pack-destination', folder.path]
  if (spawnSync('env', ['-u', 'NODE_OPTIONS', ...pack]).status !== 0) return null
  const [archive = ''] = readdirSync(folder.path)
  const tar = spawnSync('tar', ['-xzf', join(folder.path, archive), '-C', folder.path, description.file])
  if (tar.status !== 0) return null
  const content = readFileSync(join(folder.path, description.file))
  writeFileSync(path, description.file.endsWith('.gz') ? gunzipSync(content) : content)
  return path
}

/** On a terminal of 80 columns and 50 lines, the command and the prompt included. */
export function isOneScreen(text: string): boolean {
  return text.trimEnd().split('\n').length <= 48
}
