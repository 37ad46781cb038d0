/**
 * `sbom.cdx.json`: what an installation has, in CycloneDX 1.6. Of the lock file, so that it is the same wherever it is made:
 * what `npm sbom` writes has a random number, a time and the name of the folder, and lacks what a development dependency
 * needs too.
 */

import { dependenciesOf, type LockedPackage, type LockFile, nameOf, runtimePackages } from './lock-file.ts'

export interface Component {
  readonly type: 'application' | 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly scope?: 'required' | 'optional'
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[]
  readonly licenses: readonly object[]
  readonly purl: string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

export interface Sbom {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** CycloneDX's own name for packages that are inside another one, and not installed beside it. */
const BUNDLED = [{ name: 'cdx:npm:package:bundled', value: 'true' }]

/** @param bundled the paths of the packages in the lock file whose files the program has inside */
export function sbomOf(lock: LockFile, bundled: readonly string[]): Sbom {
  const installed = runtimePackages(lock)
  const components = [...installed].map(([path, each]) => componentOf(nameOf(path), each))
  const inside = bundled.map((path) => {
    const each = lock.packages[path]
    if (each === undefined) throw new Error(`package-lock.json has no ${path}`)
    return { ...componentOf(nameOf(path), each), properties: BUNDLED }
  })
  const root = rootOf(lock)
  const own = new Set(inside.map((each) => each['bom-ref']))
  const dependencies = ['', ...installed.keys()].map((path) => {
    const refs = dependenciesOf(lock, path).map((to) => refOf(lock, to))
    return { ref: refOf(lock, path), dependsOn: sorted(path === '' ? [...refs, ...own] : refs) }
  })
  const all = [...components, ...inside]
  return {
    ...{ $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json', bomFormat: 'CycloneDX' },
    ...{ specVersion: '1.6', version: 1 },
    metadata: { component: root },
    // A version that is installed at two places is one component.
    components: [...new Map(all.map((each) => [each['bom-ref'], each])).values()],
    dependencies: [...new Map(dependencies.map((each) => [each.ref, each])).values()],
  }
}

function rootOf(lock: LockFile): Component {
  const { name, version, packages } = lock
  const { scope: _, ...root } = componentOf(name, { version, license: packages['']?.license ?? '' })
  return { ...root, type: 'application' }
}

function componentOf(name: string, { version, integrity, license, optional }: LockedPackage): Component {
  return {
    type: 'library',
    'bom-ref': `${name}@${version}`,
    ...{ name, version },
    scope: optional === true ? 'optional' : 'required',
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
    licenses: [licenseOf(license ?? '')],
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  }
}

function hashOf(integrity: string): { alg: 'SHA-512'; content: string } {
  return { alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex') }
}

function licenseOf(license: string): object {
  return /[ (]/.test(license) ? { expression: license } : { license: { id: license } }
}

function refOf({ name, version, packages }: LockFile, path: string): string {
  return path === '' ? `${name}@${version}` : `${nameOf(path)}@${packages[path]?.version}`
}

function sorted(refs: readonly string[]): string[] {
  return [...new Set(refs)].sort()
}
