/** Provers that are broken on purpose: random pairs of tables reveal each of them. */

import fc from 'fast-check'
import t from 'tap'
import { faultsOf } from './compare.ts'
import { type Fault, importWith } from './mutants.ts'
import { everyPath, pairs } from './random-tables.ts'

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
    right: '(encodedSlash && !allowEncodedSlashes)',
    wrong: 'false',
  },
  {
    name: 'an entry that lacks the method ends the search',
    file: 'tables.ts',
    right: 'if (placed === null) continue',
    wrong: 'if (placed === null) return null',
  },
  {
    name: 'nodes count as equal whatever their parameters lead to',
    file: 'equal-rests.ts',
    right: '[numbers.of(param), numbers.of(leaf)',
    wrong: '[null, numbers.of(leaf)',
  },
  {
    name: 'nodes count as equal whatever the accepted methods are',
    file: 'equal-rests.ts',
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
