/** `OTEL_TRACES_SAMPLER` and its argument. */

import type { SamplerConfig } from './types.ts'
import type { Variables } from './variables.ts'

const NAME = 'OTEL_TRACES_SAMPLER'
const ARGUMENT = 'OTEL_TRACES_SAMPLER_ARG'
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export function samplerOf(variables: Variables): SamplerConfig {
  const sampler = variables.choice(NAME, SAMPLERS, 'parentbased_always_on')
  const parentBased = sampler.startsWith('parentbased_')
  if (sampler.endsWith('always_on')) return { parentBased, ratio: 1 }
  if (sampler.endsWith('always_off')) return { parentBased, ratio: 0 }
  return { parentBased, ratio: ratioOf(variables) }
}

function ratioOf(variables: Variables): number {
  const text = variables.get(ARGUMENT)
  if (text === null) return 1
  const ratio = Number(text)
  if (/^[0-9.eE-]+$/.test(text) && ratio >= 0 && ratio <= 1) return ratio
  variables.warn(ARGUMENT, 'is not a number from 0 to 1: 1 is used')
  return 1
}
