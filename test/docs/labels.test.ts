/** Metrics have the labels that the manual lists, on a gateway that has had traffic. */

import t from 'tap'
import { LABELS } from '../../docs/generate/metrics.ts'
import { startWorld } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

/** Metric → label names of each of its series. */
function labelsIn(exposition: string): Map<string, Set<string>> {
  const types = [...exposition.matchAll(/^# TYPE (seatgate_\S+) (\S+)$/gm)]
  const histograms = new Set(types.filter(([, , type]) => type === 'histogram').map(([, name]) => name))
  const found = new Map<string, Set<string>>()
  for (const [, series = '', labels = ''] of exposition.matchAll(/^(seatgate_\w+)(?:\{(.*)\})? \S+$/gm)) {
    const base = series.replace(/_(?:bucket|sum|count)$/, '')
    const name = histograms.has(base) ? base : series
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label)
    const text = names.filter((label) => label !== 'le').join()
    found.set(name, (found.get(name) ?? new Set()).add(text))
  }
  return found
}

t.test('after requests and writes', async (t) => {
  const world = await startWorld(t)
  await world.seat('Viewer', ['main'], ['trainings:list'])
  const authorization = `Bearer ${await world.token(['main:Viewer'])}`
  for (const path of ['/v1/trainings', '/v1/files/a', '/nowhere'])
    await world.client.send('GET', path, { authorization, space: 'main' })
  const found = labelsIn(await metricsOf(world))
  const seen = Object.keys(LABELS).filter((name) => found.has(name))
  t.ok(seen.length >= 10, `${seen}`)
  for (const [name, sets] of found) t.same([...sets], [(LABELS[name] ?? []).join()], name)
})
