import { ActionIcon, Menu, useMantineColorScheme } from "@mantine/core";
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

const choices = [["light", "Light", IconSun], ["dark", "Dark", IconMoon], ["auto", "As the system", IconDeviceDesktop]] as const;

export function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const Now = choices.find(([c]) => c === colorScheme)?.[2] ?? IconDeviceDesktop;
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target><ActionIcon variant="subtle" size="lg" aria-label="Light or dark"><Now size={18} /></ActionIcon></Menu.Target>
      <Menu.Dropdown>
        {choices.map(([c, label, Icon]) => (
          <Menu.Item key={c} leftSection={<Icon size={16} />} rightSection={c === colorScheme ? <IconCheck size={14} aria-label="chosen" /> : undefined} onClick={() => setColorScheme(c)}>{label}</Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
