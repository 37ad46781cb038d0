/** What an installation of the package installs, from `package-lock.json`. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface LockFile {
  readonly name: string
  readonly version: string
  readonly lockfileVersion: number
  /** The packages by their paths, such as `node_modules/pino`; the path of the root is empty. */
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export function readLockFile(root: string): LockFile {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
}

/**
 * The packages that run with the program, by their paths.
 *
 * @throws if a package is not one of the registry, so that nothing pins its content
 */
export function runtimePackages({ packages }: LockFile): Map<string, LockedPackage> {
  const entries = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  for (const [path, { integrity }] of entries)
    if (integrity?.startsWith('sha512-') !== true)
      throw new Error(`package-lock.json: ${path} has no SHA-512 hash: use a package of the registry`)
  return new Map(entries)
}

/** `@scope/name` of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

/** The paths of the packages that one imports, as Node.js resolves their names. An optional one may be missing. */
export function dependenciesOf({ packages }: LockFile, path: string): string[] {
  const own: Partial<LockedPackage> = packages[path] ?? {}
  const names = Object.keys({ ...own.dependencies, ...own.optionalDependencies, ...own.peerDependencies })
  return names.flatMap((name) => {
    for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
      const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
      if (place in packages) return place
      if (folder === '') return []
    }
  })
}

/**
 * `npm-shrinkwrap.json`, by which npm installs exactly these packages with one of a registry. Without `resolved`, it asks the
 * registry that the user has configured, and compares the hash.
 */
export function shrinkwrapOf(lock: LockFile, manifest: object): object {
  const { name, version, lockfileVersion } = lock
  const pinned = [...runtimePackages(lock)].map(([path, { ...each }]) => {
    if ('resolved' in each) delete each.resolved
    return [path, each] as const
  })
  const packages = { '': rootEntry(manifest), ...Object.fromEntries(pinned) }
  return { name, version, lockfileVersion, requires: true, packages }
}

/** The members of package.json that npm keeps in a lock file. */
const KEPT = ['name', 'version', 'license', 'dependencies', 'optionalDependencies', 'bin', 'engines']

function rootEntry(manifest: object): object {
  return Object.fromEntries(Object.entries(manifest).filter(([name]) => KEPT.includes(name)))
}
