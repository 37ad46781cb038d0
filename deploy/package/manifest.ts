/** The `package.json` of the package, in the place of that of the clone while npm packs. */

import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LockedPackage, type LockFile, nameOf, runtimePackages } from './lock-file.ts'

/** The name of the clone's file while npm packs. */
const KEPT = 'package.json.clone'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly allowScripts?: unknown
}

interface PackedManifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

/**
 * Names each package of an installation with its one version: npm reads `npm-shrinkwrap.json` of packages of a registry
 * alone, and would install from a file whatever is newest by then.
 *
 * @throws if two versions of a package would be needed
 */
export function packedManifest(manifest: Manifest, lock: LockFile): PackedManifest {
  const { dependencies: _, devDependencies: __, scripts: ___, allowScripts: ____, ...rest } = manifest
  const packages = [...runtimePackages(lock)]
  const nested = packages.find(([path]) => path !== `node_modules/${nameOf(path)}`)
  if (nested !== undefined) throw new Error(`${nested[0]}: a second version, which package.json cannot name`)
  const versions = (isOptional: boolean) =>
    versionsOf(packages.filter(([, each]) => (each.optional ?? false) === isOptional))
  return { ...rest, dependencies: versions(false), optionalDependencies: versions(true) }
}

function versionsOf(packages: readonly (readonly [string, LockedPackage])[]): Record<string, string> {
  return Object.fromEntries(packages.map(([path, { version }]) => [nameOf(path), version]))
}

/** Puts the manifest of the package in the place of that of the clone, which is kept beside it. */
export function replaceManifest(root: string, manifest: object): void {
  const [own, kept] = [join(root, 'package.json'), join(root, KEPT)]
  if (!existsSync(kept)) renameSync(own, kept)
  writeFileSync(own, `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Puts the manifest of the clone back, if another one is in its place. */
export function restoreManifest(root: string): void {
  if (existsSync(join(root, KEPT))) renameSync(join(root, KEPT), join(root, 'package.json'))
}
