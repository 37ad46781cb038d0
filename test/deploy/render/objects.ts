/** Finds objects of a rendered chart, and puts a ConfigMap where a pod has it. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { KubernetesObject } from './render.ts'

export function find(
  objects: readonly KubernetesObject[],
  kind: string,
  name = 'seatgate',
): KubernetesObject {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name}`)
  return found
}

export function podOf(objects: readonly KubernetesObject[], name?: string) {
  return find(objects, 'Deployment', name).spec['template'] as {
    readonly metadata: KubernetesObject['metadata'] & { readonly annotations: Record<string, string> }
    readonly spec: Readonly<Record<string, unknown>>
  }
}

/** As the kubelet mounts a ConfigMap: each key is a link into a folder that a link names. */
export function mounted(t: Test, data: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-configmap-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '..2026'))
  symlinkSync('..2026', join(folder, '..data'))
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(join(folder, '..2026', name), text)
    symlinkSync(join('..data', name), join(folder, name))
  }
  return folder
}
