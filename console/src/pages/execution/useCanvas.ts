// A canvas as wide as its place, redrawn in the frame in which what it shows, its size or the colours change. Hidden pages
// draw nothing.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { paint } from '../../lib/theme'

export interface Pen {
  context: CanvasRenderingContext2D
  width: number
  height: number
}

const RATIO_MAX = 2

export function useCanvas(height: number, draw: (pen: Pen) => void, inputs: readonly unknown[]) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    watcher.observe(canvas.current!.parentElement!)
    return () => watcher.disconnect()
  }, [])
  useLayoutEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d', { alpha: false })
    if (element == null || context == null || width === 0 || document.hidden) return
    const ratio = Math.min(RATIO_MAX, window.devicePixelRatio)
    // A new size throws the surface away, so the old one stays while it fits.
    const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)]
    if (element.width !== wide) element.width = wide
    if (element.height !== tall) element.height = tall
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    draw({ context, width, height })
  }, [width, height, paint.value, ...inputs])
  return canvas
}
