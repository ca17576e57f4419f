import { ActionIcon, Menu } from "@mantine/core";
import { IconLogout, IconUser } from "@tabler/icons-react";
import { send, signedOut } from "../api/client";
import { useSystem } from "../api/hooks";

/** WhoAmI is there on servers with tokens only: without them there is nobody to sign out. */
export function WhoAmI() {
  const system = useSystem().data;
  if (!system?.tokens) return null;
  const leave = () => void send("DELETE", "/session").finally(() => signedOut.dispatchEvent(new Event("signed-out")));
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target><ActionIcon variant="subtle" size="lg" aria-label="Who is signed in"><IconUser size={18} /></ActionIcon></Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{system.caller?.name} · {system.caller?.role}{system.caller?.evidence ? " · evidence" : ""}</Menu.Label>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={leave}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
