/** Colours, type and sizes: calm and dense, with AA contrast in both schemes. */
import { t } from '@lingui/core/macro';
import {
  type ButtonProps,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
} from '@mantine/core';

const steward: MantineColorsTuple = [
  '#e9f7f6',
  '#d3eeec',
  '#a9dfdb',
  '#79cdc7',
  '#4fbab3',
  '#31a59e',
  '#1d8f89',
  '#127a75',
  '#0b6763',
  '#064f4c',
];

const dark: MantineColorsTuple = [
  '#e1e5ea',
  '#bcc4ce',
  '#9aa4b0',
  '#5d6773',
  '#353c46',
  '#272d35',
  '#1d2229',
  '#15191e',
  '#101317',
  '#0b0d10',
];

const dialog = {
  closeButtonProps: { 'aria-label': t`Close` },
  overlayProps: { backgroundOpacity: 0.4 },
};

const dialogTitle = { title: { fontWeight: 600 } };

export const theme = createTheme({
  primaryColor: 'steward',
  primaryShade: { light: 8, dark: 7 },
  autoContrast: true,
  colors: { steward, dark },
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace:
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.3' },
      h2: { fontSize: '0.9375rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  defaultRadius: 'sm',
  radius: { xs: '0.25rem', sm: '0.375rem', md: '0.5rem', lg: '0.75rem', xl: '1rem' },
  respectReducedMotion: true,
  // Plain objects rather than Button.extend() and the like: those would pull every one of these
  // components into the first download.
  components: {
    // An element to take the focus first is no item of a menu, and screen readers are told of one too many.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Button: {
      defaultProps: { size: 'sm' },
      vars: (_theme: unknown, { size }: ButtonProps) => ({
        root: size === 'sm' ? { '--button-height': '2rem', '--button-padding-x': '0.75rem' } : {},
      }),
    },
    Input: { vars: () => ({ wrapper: { '--input-height': '2.125rem' } }) },
    Modal: {
      defaultProps: { ...dialog, centered: true },
      styles: { ...dialogTitle, content: { border: '1px solid var(--steward-line)' } },
    },
    Drawer: { defaultProps: dialog, styles: dialogTitle },
    // The title's own colour misses AA on the light tint.
    Alert: { styles: { title: { color: 'var(--mantine-color-text)' } } },
    Select: { defaultProps: { maxDropdownHeight: 320 } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
  },
});

/** Mantine's dimmed, placeholder and error colours miss AA on white; these meet it. */
export const cssVariables: CSSVariablesResolver = (resolved) => ({
  variables: {},
  light: {
    '--mantine-color-text': '#1b2129',
    '--mantine-color-dimmed': '#59636f',
    '--mantine-color-placeholder': '#6a7480',
    '--mantine-color-error': resolved.colors.red[9],
    '--steward-sidebar': '#f6f8f9',
    '--steward-surface': '#ffffff',
    '--steward-line': '#e3e7eb',
    '--steward-hover': '#eef1f4',
    '--steward-selected': '#e2e8ec',
    '--steward-code': '#f3f5f7',
  },
  dark: {
    '--mantine-color-dimmed': dark[2],
    '--mantine-color-placeholder': '#8a94a0',
    '--mantine-color-error': resolved.colors.red[4],
    '--steward-sidebar': dark[8],
    '--steward-surface': '#191d23',
    '--steward-line': '#2a3038',
    '--steward-hover': '#1f242b',
    '--steward-selected': '#272d35',
    '--steward-code': '#1d2229',
  },
});
