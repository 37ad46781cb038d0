/** Provers that are broken on purpose: random pairs of tables reveal each of them. */

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import t from 'tap'
import { faultsOf } from './compare.ts'
import { everyPath, pairs } from './random-tables.ts'

const ACCESS = new URL('../../src/access/', import.meta.url).href

interface Fault {
  readonly name: string
  /** In `src/access/`. */
  readonly file: string
  /** Occurs once in the file. */
  readonly right: string
  readonly wrong: string
}

/** Imports a module of `src/access/`; it and what it imports of that folder have the fault. */
async function importWith<M>(module: string, { name, file, right, wrong }: Fault): Promise<M> {
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

const FAULTS: readonly Fault[] = [
  {
    name: 'a parameter takes precedence of a static segment',
    file: 'path-classes.ts',
    right: '[each.statics.get(text)?.leaf ?? null, wide, each.rest]',
    wrong: '[wide, each.statics.get(text)?.leaf ?? null, each.rest]',
  },
  {
    name: 'a * takes precedence of a parameter further on',
    file: 'path-classes.ts',
    right: '[each.statics.get(text), each.param, each.rest]',
    wrong: '[each.statics.get(text), each.rest, each.param]',
  },
  {
    name: 'the first * ends the search, whichever methods it has',
    file: 'path-classes.ts',
    right: 'if (!(one instanceof Node) && one.any !== null) return next',
    wrong: 'if (!(one instanceof Node)) return next',
  },
  {
    name: 'HEAD is forgotten',
    file: 'tables.ts',
    right: '...leaf.methods.keys()',
    wrong: "...[...leaf.methods.keys()].filter((method) => method !== 'HEAD')",
  },
  {
    name: 'ANY is forgotten',
    file: 'tables.ts',
    right: 'const unnamed = [...USUAL_METHODS, ...every]',
    wrong: 'const unnamed = ([] as string[])',
  },
  {
    name: 'an accepted method of one side only is forgotten',
    file: 'tables.ts',
    right: '...unnamed.filter((each) => !common.has(each))',
    wrong: '',
  },
  {
    name: 'an empty rest is forgotten',
    file: 'path-classes.ts',
    right: 'return [each.statics.get(text)?.leaf ?? null, wide, each.rest]',
    wrong: "return [each.statics.get(text)?.leaf ?? null, wide, text === '' ? null : each.rest]",
  },
  {
    name: 'a parameter matches an empty segment',
    file: 'path-classes.ts',
    right: "text === '' ? null : (each.param?.leaf ?? null)",
    wrong: 'each.param?.leaf ?? null',
  },
  {
    name: 'paths that end with a slash are forgotten',
    file: 'path-classes.ts',
    right: "['', ...suffixes.map(",
    wrong: '[...suffixes.map(',
  },
  {
    name: 'texts that no entry names are forgotten',
    file: 'path-classes.ts',
    right: '...suffixes.map((suffix) => unusedText(texts, suffix)),',
    wrong: '',
  },
  {
    name: 'a semicolon earlier in the path is forgotten',
    file: 'path-classes.ts',
    right: 'marks.map((mark) => mark.isIn(path)).join()',
    wrong: "''",
  },
  {
    name: 'encoded slashes are accepted everywhere',
    file: 'tables.ts',
    right: 'ambiguityOf(target, route, exceptionsOf(side.upstreams, route)) === null ? route : null',
    wrong:
      'ambiguityOf({ ...target, encodedSlash: false }, route, exceptionsOf(side.upstreams, route)) === null ? route : null',
  },
  {
    name: 'an entry that lacks the method ends the search',
    file: 'tables.ts',
    right: 'if (placed === null) continue',
    wrong: 'if (placed === null) return null',
  },
  {
    name: 'nodes count as equal whatever their parameters lead to',
    file: 'difference.ts',
    right: '[numbers.of(param), numbers.of(leaf)',
    wrong: '[null, numbers.of(leaf)',
  },
  {
    name: 'nodes count as equal whatever the accepted methods are',
    file: 'difference.ts',
    right: 'const sameMethods = before.methods.symmetricDifference(after.methods).size === 0',
    wrong: 'const sameMethods = true',
  },
]

const paths = everyPath(3)

for (const fault of FAULTS)
  t.test(fault.name, async (t) => {
    const { differences } = await importWith<typeof import('../../src/access/difference.ts')>(
      'difference.ts',
      fault,
    )
    const revealed = fc.check(
      fc.property(pairs(3), (pair) => faultsOf(pair, paths, differences).length === 0),
      { numRuns: 300, endOnFailure: true },
    )
    t.ok(revealed.failed, 'some pair of tables reveals it')
  })
