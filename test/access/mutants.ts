/** Versions of `src/access` with one fault each: the tests must tell them from the real one. */

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const ACCESS = new URL('../../src/access/', import.meta.url).href

export interface Fault {
  readonly name: string
  /** In `src/access/`. */
  readonly file: string
  /** Occurs once in the file. */
  readonly right: string
  readonly wrong: string
}

/** Imports a module of `src/access/`; it and what it imports of that folder have the fault. */
export async function importWith<M>(module: string, { name, file, right, wrong }: Fault): Promise<M> {
  const mark = `?fault=${encodeURIComponent(name)}`
  const isMarked = (url: string | undefined) => url?.startsWith(ACCESS) === true && url.endsWith(mark)
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const inherits = isMarked(context.parentURL) && found.url.startsWith(ACCESS) && !isMarked(found.url)
      return inherits ? { ...found, url: found.url + mark } : found
    },
    load(url, context, next) {
      if (!isMarked(url)) return next(url, context)
      const path = url.slice(0, -mark.length)
      const source = readFileSync(fileURLToPath(path), 'utf8')
      if (path !== ACCESS + file) return { format: 'module-typescript', source, shortCircuit: true }
      if (source.split(right).length !== 2) throw new Error(`${file} does not have "${right}" exactly once`)
      return { format: 'module-typescript', source: source.replace(right, () => wrong), shortCircuit: true }
    },
  })
  try {
    return await import(ACCESS + module + mark)
  } finally {
    hooks.deregister()
  }
}
