/**
 * Checks objects of Kubernetes by the API's own description, as the package `kubernetes-models` has it. Its JSON schemas
 * allow keys that the API does not know, and its types do not: the compiler finds those.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../docs/pages.ts'
import { cacheFolder } from '../support/servers/cache.ts'
import { run } from './programs.ts'
import type { KubernetesObject } from './render/render.ts'

const PACKAGES: Readonly<Record<string, string>> = {
  v1: 'kubernetes-models/v1',
  'apps/v1': 'kubernetes-models/apps/v1',
  'policy/v1': 'kubernetes-models/policy/v1',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
}

interface Model {
  validate(): void
}

/** @returns the faults of the objects, a line each */
export async function faultsOf(objects: readonly KubernetesObject[]): Promise<string[]> {
  const faults = await Promise.all(objects.map(byJsonSchema))
  return [...faults.flat(), ...byTypes(objects)]
}

async function byJsonSchema(object: KubernetesObject): Promise<string[]> {
  const { apiVersion, kind } = object
  const module: Readonly<Record<string, new (object: KubernetesObject) => Model>> = await import(
    moduleOf(object)
  )
  const KindModel = module[kind]
  if (KindModel === undefined) return [`${apiVersion} has no ${kind}`]
  try {
    new KindModel(object).validate()
    return []
  } catch (error) {
    return [`${kind}: ${(error as Error).message}`]
  }
}

function byTypes(objects: readonly KubernetesObject[]): string[] {
  // Inside the project, so that the compiler finds the packages.
  const folder = mkdtempSync(join(cacheFolder(), 'manifests-'))
  try {
    const declarations = objects.map(
      (object, index) =>
        `export const object${index}: import('${moduleOf(object)}').I${object.kind} = ${JSON.stringify(object)}\n`,
    )
    const file = join(folder, 'objects.ts')
    writeFileSync(file, declarations.join(''))
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
    ]
    const compiler = join(root, 'node_modules/.bin/tsc')
    // The compiler can't run with the options that a coverage run gives Node.js.
    const { code, output } = run('env', '-u', 'NODE_OPTIONS', compiler, ...options, file)
    return code === 0 ? [] : output.trim().split('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** That of one kind: all kinds of a version together take seconds to load and to compile. */
function moduleOf({ apiVersion, kind }: KubernetesObject): string {
  const name = PACKAGES[apiVersion]
  if (name === undefined) throw new Error(`no package has ${apiVersion}`)
  return `${name}/${kind}`
}
